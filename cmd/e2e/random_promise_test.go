package e2e

import (
	"hash/fnv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/partition"
)

// divider is the column by which the owners of a random table divide its rows,
// and say so: nil for none. Partitions of another type have other values there,
// which may well be equal to those of another partition.
func (t *randomTable) divider(seed uint64) *randomColumn {
	r := draw(seed, t.name+" divided", 0)
	if len(t.columns) == 1 {
		return nil // a smaller table
	}
	c := &t.columns[1+r.IntN(len(t.columns)-1)]
	if r.IntN(2) == 0 || len(c.values) == 0 {
		return nil
	}
	return c
}

// divide gives each partition values of the divider that few others have.
func (t *randomTable) divide(seed uint64) {
	c := t.divider(seed)
	if c == nil {
		return
	}
	at := 0
	for i := range t.columns {
		if t.columns[i].name == c.name {
			at = i
		}
	}
	for p, rows := range t.partitions {
		if _, drifts := t.drifting(p)[c.name]; drifts {
			continue
		}
		var own []any
		for _, v := range c.values {
			h := fnv.New32a()
			_, _ = h.Write([]byte(v.(string)))
			if int(h.Sum32()%uint32(len(t.partitions))) == p {
				own = append(own, v)
			}
		}
		for i, row := range rows {
			switch {
			case row[at] == nil:
			case len(own) == 0:
				row[at] = nil
			default:
				row[at] = own[i%len(own)]
			}
		}
	}
}

// promise is true of the rows: all values of the divider, or the buckets that
// they are in, or both.
func (t *randomTable) promise(tb *testing.T, seed uint64, batches []arrow.RecordBatch) (out partition.Promise) {
	c := t.divider(seed)
	kind := draw(seed, t.name+" promise", 0).IntN(3)
	if c == nil || c.class == double { // which some partitions have as integers
		return out
	}
	h := partition.Hash{Columns: []string{c.name}, Of: 211}
	values, holds := []scalar.Scalar{}, map[int]bool{}
	for _, b := range batches {
		at := b.Schema().FieldIndices(c.name)
		if len(at) == 0 || !partition.Hashable(b.Column(at[0]).DataType()) {
			return out
		}
		for i := range int(b.NumRows()) {
			v := oneValue(tb, b.Column(at[0]), i)
			if !partition.Among(values, v) {
				values = append(values, v)
			}
			if bucket, ok := h.Bucket(v); ok {
				holds[bucket] = true
			}
		}
	}
	if len(batches) == 0 || strings.HasPrefix(c.typ, "ENUM") {
		return out // which type it has is not known here
	}
	if kind != 0 {
		out.Values = map[string][]scalar.Scalar{c.name: values}
	}
	if kind != 1 {
		out.Buckets = &partition.Buckets{Hash: h}
		for i := range holds {
			out.Buckets.Holds = append(out.Buckets.Holds, i)
		}
	}
	return out
}

func oneValue(tb *testing.T, a arrow.Array, i int) scalar.Scalar {
	if d, ok := a.(*array.Dictionary); ok {
		if d.IsNull(i) {
			return scalar.MakeNullScalar(d.Dictionary().DataType())
		}
		a, i = d.Dictionary(), d.GetValueIndex(i)
	}
	v, err := scalar.GetScalar(a, i)
	require.NoError(tb, err)
	return v
}
