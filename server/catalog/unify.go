package catalog

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/widen"
)

// unify makes the federated schema: every column that an owner has, of the least
// type that holds the values of all owners.
func (m *merged) unify() {
	var fields []arrow.Field
	var origins []offer // who gave a column its type
	index := map[string]int{}
	for _, o := range m.offers {
		if o.table.Err != "" || o.table.Arrow == nil {
			continue
		}
		m.checkNames(o)
		for _, f := range o.table.Arrow.Fields() {
			at, known := index[strings.ToLower(f.Name)]
			if !known {
				index[strings.ToLower(f.Name)] = len(fields)
				fields, origins = append(fields, f), append(origins, o)
				continue
			}
			joined, ok := widen.Common(fields[at].Type, f.Type)
			if !pushdown.IsUUID(f) {
				fields[at].Metadata = arrow.Metadata{} // nor are they all
			}
			switch {
			case f.Name != fields[at].Name:
				m.fail("table %s has column %q on scanner %q and %q on scanner %q: the names differ only in case; rename one",
					m.table.ID(), f.Name, o.owner.Name, fields[at].Name, origins[at].owner.Name)
			case !ok:
				m.conflict(f.Name, o, f.Type, origins[at], fields[at].Type)
			case !arrow.TypeEqual(joined, fields[at].Type):
				fields[at].Type, origins[at] = joined, o
			}
		}
	}
	if len(fields) > 0 {
		m.table.Arrow = arrow.NewSchema(fields, nil)
	}
}

func (m *merged) conflict(column string, a offer, typeA arrow.DataType, b offer, typeB arrow.DataType) {
	m.fail("table %s: column %q is %s in partitions %s of scanner %q and %s in partitions %s of scanner %q: "+
		"no type holds both exactly; cast one where the table is made",
		m.table.ID(), column, typeA, ids(a.table.Partitions), a.owner.Name, typeB, ids(b.table.Partitions), b.owner.Name)
}

func (m *merged) checkNames(o offer) {
	seen := map[string]string{}
	for _, f := range o.table.Arrow.Fields() {
		key := strings.ToLower(f.Name)
		if other, ok := seen[key]; ok {
			m.fail("table %s on scanner %q has columns %q and %q, which differ at most in case; rename one",
				m.table.ID(), o.owner.Name, other, f.Name)
		}
		seen[key] = f.Name
	}
}

// statistics are those of a partition, for the federated columns. A column that
// the owner lacks is NULL in every row.
func (m *merged) statistics(t codec.Table, p codec.Partition) map[string]codec.ColumnStats {
	if t.Version == "" || t.Arrow == nil || m.table.Arrow == nil {
		return nil // nobody could tell when they have become wrong
	}
	out := map[string]codec.ColumnStats{}
	for _, f := range m.table.Arrow.Fields() {
		at := t.Arrow.FieldIndices(f.Name)
		stats, known := p.Columns[f.Name]
		switch {
		case len(at) == 0 && p.Rows >= 0:
			out[f.Name] = codec.ColumnStats{Nulls: p.Rows}
		case len(at) > 0 && known:
			out[f.Name] = widenStats(stats, pushdown.ValueType(f.Type))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func widenStats(s codec.ColumnStats, to arrow.DataType) codec.ColumnStats {
	lo, hi := widenBound(s.Min, to), widenBound(s.Max, to)
	s.Exact = s.Exact && (lo != nil) == (s.Min != nil) && (hi != nil) == (s.Max != nil)
	s.Min, s.Max = lo, hi
	return s // what was counted is the same in a type that holds the values, but for floats
}

// widenBound is the same value of the wider type; nil when there is none.
func widenBound(v scalar.Scalar, to arrow.DataType) scalar.Scalar {
	if v == nil || arrow.TypeEqual(v.DataType(), to) {
		return v
	}
	one, err := scalar.MakeArrayFromScalar(v, 1, memory.DefaultAllocator)
	if err != nil {
		return nil
	}
	defer one.Release()
	wide, err := widen.Array(one, to, memory.DefaultAllocator)
	if err != nil {
		return nil
	}
	defer wide.Release()
	out, err := scalar.GetScalar(wide, 0)
	if err != nil {
		return nil
	}
	return out
}
