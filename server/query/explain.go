package query

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// explain returns the plan as rows of text; with Analyze it runs the query to
// its end first and adds what was measured.
func (s *Service) explain(run *running, st *Statement) (Stream, error) {
	text := st.plan.Explain()
	if st.Command.Analyze {
		stream, err := s.execute(run.ctx, run.id, st)
		if err != nil {
			return nil, err
		}
		run.stream = stream
		rows, err := drain(run.ctx, stream)
		if err := errors.Join(err, stream.Close()); err != nil {
			return nil, err
		}
		run.rows = rows
		text = st.plan.ExplainAnalyze(stream.Stats())
	}
	return newTextStream(st.Schema, s.cfg.Alloc, strings.Split(strings.TrimRight(text, "\n"), "\n")), nil
}

func drain(ctx context.Context, stream Stream) (rows int64, err error) {
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += batch.NumRows()
		batch.Release()
	}
}

// textSchema is a result of one text column.
func textSchema(name string) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
}

// textStream yields one batch of one text column.
type textStream struct {
	schema *arrow.Schema
	batch  arrow.RecordBatch
}

func newTextStream(schema *arrow.Schema, mem memory.Allocator, lines []string) *textStream {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.AppendValues(lines, nil)
	col := b.NewArray()
	defer col.Release()
	return &textStream{schema: schema, batch: array.NewRecordBatch(schema, []arrow.Array{col}, int64(len(lines)))}
}

// Schema is the one text column.
func (t *textStream) Schema() *arrow.Schema { return t.schema }

// Next returns the batch once.
func (t *textStream) Next(context.Context) (arrow.RecordBatch, error) {
	if t.batch == nil {
		return nil, io.EOF
	}
	batch := t.batch
	t.batch = nil
	return batch, nil
}

// Close releases the batch if it was not taken.
func (t *textStream) Close() error {
	if t.batch != nil {
		t.batch.Release()
		t.batch = nil
	}
	return nil
}
