package catalog

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
)

// promise is that of a partition, for the federated columns. What a wider type
// makes of a value must have the same canonical bytes, or nothing is known of
// the column.
func (m *merged) promise(t codec.Table, p *codec.Partition) partition.Promise {
	var out partition.Promise
	if t.PromiseVersion == "" || t.Arrow == nil || m.table.Arrow == nil {
		return out
	}
	for name, values := range p.Promise.Values {
		to, ok := m.sameBytes(t.Arrow, name)
		wide := widenValues(values, to)
		if !ok || wide == nil {
			continue
		}
		if out.Values == nil {
			out.Values = map[string][]scalar.Scalar{}
		}
		out.Values[name] = wide
	}
	if b := p.Promise.Buckets; b != nil && !slices.ContainsFunc(b.Columns, func(name string) bool { _, ok := m.sameBytes(t.Arrow, name); return !ok }) {
		out.Buckets = b
	}
	return out
}

// sameBytes is the federated type of an owner's column, if values have the same
// canonical bytes in both.
func (m *merged) sameBytes(own *arrow.Schema, name string) (arrow.DataType, bool) {
	from, to := own.FieldIndices(name), m.table.Arrow.FieldIndices(name)
	if len(from) != 1 || len(to) != 1 {
		return nil, false
	}
	t := m.table.Arrow.Field(to[0]).Type
	return t, partition.SameBytes(own.Field(from[0]).Type, t)
}

// widenValues is nil when one has no counterpart.
func widenValues(values []scalar.Scalar, to arrow.DataType) []scalar.Scalar {
	if to == nil {
		return nil
	}
	to = pushdown.ValueType(to)
	out := make([]scalar.Scalar, len(values))
	for i, v := range values {
		if !v.IsValid() {
			out[i] = scalar.MakeNullScalar(to)
		} else if out[i] = widenBound(v, to); out[i] == nil {
			return nil
		}
	}
	return out
}
