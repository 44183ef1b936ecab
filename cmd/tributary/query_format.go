package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// rowWriter prints a result in one format.
type rowWriter interface {
	begin(*arrow.Schema) error
	write(arrow.RecordBatch) error
	end() error
}

func newRowWriter(format string, w io.Writer) rowWriter {
	switch format {
	case "csv":
		return &csvWriter{w: csv.NewWriter(w)}
	case "json":
		return &jsonWriter{w: w}
	case "arrow":
		return &arrowWriter{out: w}
	case "parquet":
		return &parquetWriter{out: w}
	}
	return &tableWriter{w: w}
}

// cell is the text of one value; NULL is null.
func cell(a arrow.Array, row int, null string) string {
	if a.IsNull(row) {
		return null
	}
	switch t := a.DataType().(type) {
	case *arrow.Decimal128Type:
		return a.(*array.Decimal128).Value(row).ToString(t.Scale)
	case *arrow.TimestampType:
		text := a.(*array.Timestamp).Value(row).ToTime(t.Unit).Format("2006-01-02 15:04:05.999999999")
		if t.TimeZone != "" {
			text += "+00"
		}
		return text
	}
	return a.ValueStr(row)
}

type csvWriter struct{ w *csv.Writer }

func (c *csvWriter) begin(s *arrow.Schema) error {
	names := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		names[i] = f.Name
	}
	return c.w.Write(names)
}

func (c *csvWriter) write(b arrow.RecordBatch) error {
	record := make([]string, b.NumCols())
	for row := range int(b.NumRows()) {
		for i, col := range b.Columns() {
			record[i] = cell(col, row, "")
		}
		if err := c.w.Write(record); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvWriter) end() error {
	c.w.Flush()
	return c.w.Error()
}

type jsonWriter struct{ w io.Writer }

func (*jsonWriter) begin(*arrow.Schema) error { return nil }

func (j *jsonWriter) write(b arrow.RecordBatch) error { return array.RecordToJSON(b, j.w) }

func (*jsonWriter) end() error { return nil }

type arrowWriter struct {
	out io.Writer
	w   *ipc.Writer
}

func (a *arrowWriter) begin(s *arrow.Schema) error {
	if a.w == nil {
		a.w = ipc.NewWriter(a.out, ipc.WithSchema(s))
	}
	return nil
}

func (a *arrowWriter) write(b arrow.RecordBatch) error { return a.w.Write(b) }

func (a *arrowWriter) end() error {
	if a.w == nil {
		return nil
	}
	return a.w.Close()
}

type parquetWriter struct {
	out io.Writer
	w   *pqarrow.FileWriter
}

func (p *parquetWriter) begin(s *arrow.Schema) (err error) {
	if p.w == nil {
		// Only the writer is handed on: Parquet's would close stdout.
		p.w, err = pqarrow.NewFileWriter(s, struct{ io.Writer }{p.out}, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy)), pqarrow.DefaultWriterProps())
	}
	return err
}

func (p *parquetWriter) write(b arrow.RecordBatch) error { return p.w.WriteBuffered(b) }

func (p *parquetWriter) end() error {
	if p.w == nil {
		return nil
	}
	return p.w.Close()
}

// tableWriter aligns columns by the first rows and then streams: a large
// result is not held in memory.
type tableWriter struct {
	w      io.Writer
	names  []string
	right  []bool
	head   [][]string
	widths []int
	rows   int64
}

const (
	// alignRows is how many rows decide the widths of the columns.
	alignRows = 1000
	// maxRule bounds the line under a column's name.
	maxRule = 80
)

func (t *tableWriter) begin(s *arrow.Schema) error {
	t.names, t.right, t.head = nil, nil, nil
	for _, f := range s.Fields() {
		t.names = append(t.names, f.Name)
		id := f.Type.ID()
		t.right = append(t.right, arrow.IsInteger(id) || arrow.IsFloating(id) || arrow.IsDecimal(id))
	}
	return nil
}

func (t *tableWriter) write(b arrow.RecordBatch) error {
	for row := range int(b.NumRows()) {
		cells := make([]string, b.NumCols())
		for i, col := range b.Columns() {
			cells[i] = strings.ReplaceAll(cell(col, row, "NULL"), "\n", `\n`)
		}
		t.rows++
		if t.widths == nil {
			if t.head = append(t.head, cells); len(t.head) == alignRows {
				if err := t.flushHead(); err != nil {
					return err
				}
			}
			continue
		}
		if err := t.line(cells); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableWriter) flushHead() error {
	t.widths = make([]int, len(t.names))
	for _, cells := range append([][]string{t.names}, t.head...) {
		for i, c := range cells {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(c))
		}
	}
	rule := make([]string, len(t.names))
	for i, w := range t.widths {
		rule[i] = strings.Repeat("-", min(w, maxRule))
	}
	for _, cells := range append([][]string{t.names, rule}, t.head...) {
		if err := t.line(cells); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableWriter) line(cells []string) error {
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", max(0, t.widths[i]-utf8.RuneCountInString(c)))
		if t.right[i] {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(b.String(), " "))
	return err
}

func (t *tableWriter) end() error {
	if len(t.names) == 0 {
		_, err := fmt.Fprintln(t.w, "ok")
		return err
	}
	if t.widths == nil {
		if err := t.flushHead(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.w, "(%d rows)\n", t.rows)
	return err
}
