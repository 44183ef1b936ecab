package partition

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Keep reports whether the rows of a batch, whose columns are found by name,
// keep the promise. The error names the first value that does not.
func (p *Promise) Keep(b arrow.RecordBatch) error {
	for name, values := range p.Values {
		a, allowed := columnOf(b, name), newSet(values)
		if a == nil && b.NumRows() > 0 && !allowed.null {
			return status.New(status.FailedPrecondition, "column %q is NULL, which its owner promised not to be in the partition", name)
		}
		if err := keepValues(a, name, allowed); err != nil {
			return err
		}
	}
	if p.Buckets == nil {
		return nil
	}
	return p.Buckets.keep(b)
}

// Broken is the error for a value that a promise excludes.
func Broken(column, value string) error {
	return status.New(status.FailedPrecondition, "column %q has the value %s, which its owner promised not to be in the partition", column, value)
}

// columnOf is nil for a column that the batch lacks, and which is NULL.
func columnOf(b arrow.RecordBatch, name string) arrow.Array {
	at := b.Schema().FieldIndices(name)
	if len(at) == 0 {
		return nil
	}
	return b.Column(at[0])
}

func keepValues(a arrow.Array, name string, allowed set) error {
	if a == nil {
		return nil
	}
	col := newColumn(a)
	var buf []byte
	for i := range a.Len() {
		text, ok := col.append(buf[:0], i)
		if !allowed.has(text, ok) {
			return Broken(name, a.ValueStr(i))
		}
		buf = text
	}
	return nil
}

// keep hashes all rows.
func (b *Buckets) keep(batch arrow.RecordBatch) error {
	columns := make([]column, len(b.Columns))
	for i, name := range b.Columns {
		a := columnOf(batch, name)
		if a == nil {
			return nil // all NULL
		}
		columns[i] = newColumn(a)
	}
	var buf []byte
	for i := range int(batch.NumRows()) {
		text, ok := row(buf[:0], columns, i)
		if at := b.of(text); ok && !slices.Contains(b.Holds, at) {
			return status.New(status.FailedPrecondition, "row %d is in bucket %d of %s, which its owner promised not to be in the partition", i, at, b.Hash)
		}
		buf = text
	}
	return nil
}

func row(dst []byte, columns []column, i int) (out []byte, ok bool) {
	for _, c := range columns {
		if dst, ok = c.append(dst, i); !ok {
			return dst, false
		}
	}
	return dst, true
}
