package pushdown

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Bounds of a [Relation].
const (
	MaxRelationRows  = 64 << 10
	MaxRelationBytes = 1 << 20
)

// Relation is a small table that travels with a scan. It is immutable.
type Relation struct {
	rows  arrow.RecordBatch
	bytes int64
	sum   uint64
}

// NewRelation returns the relation of some rows, whose memory must not be an
// allocator's that keeps account: nobody releases it. Columns have a family and
// are no dictionaries.
func NewRelation(rows arrow.RecordBatch) (*Relation, error) {
	r := &Relation{rows: rows}
	if n := rows.NumRows(); n > MaxRelationRows {
		return nil, tooLarge("%d rows", n)
	}
	h := xxh3.New()
	for i, c := range rows.Columns() {
		if _, ok := FamilyOf(c.DataType()); !ok || isDictionary(c.DataType()) {
			return nil, status.New(status.InvalidArgument, "column %q of a relation has type %s", rows.ColumnName(i), c.DataType())
		}
		r.bytes += sumColumn(h, c)
	}
	if r.bytes > MaxRelationBytes {
		return nil, tooLarge("%d bytes", r.bytes)
	}
	r.sum = h.Sum64()
	return r, nil
}

func tooLarge(format string, n int64) error {
	return status.New(status.ResourceExhausted, "a relation of "+format+" is too large to travel with a scan", n)
}

// Rows are the relation's rows; the caller does not release them.
func (r *Relation) Rows() arrow.RecordBatch { return r.rows }

// Bytes is the size of the values.
func (r *Relation) Bytes() int64 { return r.bytes }

// sumColumn hashes the values of an array, whatever the buffers that they lie in,
// and returns their size.
func sumColumn(h *xxh3.Hasher, arr arrow.Array) (size int64) {
	value := valueBytes(arr)
	var head [5]byte
	for i := range arr.Len() {
		head[0] = 0
		if arr.IsNull(i) {
			_, _ = h.Write(head[:1])
			size++
			continue
		}
		v := value(i)
		head[0] = 1
		binary.LittleEndian.PutUint32(head[1:], uint32(len(v)))
		_, _ = h.Write(head[:])
		_, _ = h.Write(v)
		size += int64(len(v)) + 1
	}
	return size
}

// valueBytes reads the bytes of single values.
func valueBytes(arr arrow.Array) func(int) []byte {
	switch arr := arr.(type) {
	case *array.String:
		return func(i int) []byte { return []byte(arr.Value(i)) }
	case *array.LargeString:
		return func(i int) []byte { return []byte(arr.Value(i)) }
	case *array.Binary:
		return arr.Value
	case *array.LargeBinary:
		return arr.Value
	}
	data := arr.Data()
	if arr.NullN() == arr.Len() {
		return nil // nobody asks
	}
	raw := data.Buffers()[1].Bytes()
	if arr.DataType().ID() == arrow.BOOL {
		return func(i int) []byte { return []byte{bitOf(raw, data.Offset()+i)} }
	}
	width := arr.DataType().(arrow.FixedWidthDataType).Bytes()
	return func(i int) []byte { at := (data.Offset() + i) * width; return raw[at : at+width] }
}

func bitOf(raw []byte, i int) byte {
	if bitutil.BitIsSet(raw, i) {
		return 1
	}
	return 0
}
