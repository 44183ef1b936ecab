package pushdowntest

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
)

// lookups draws lookups and conjuncts that follow them.
func lookups(t *rapid.T, schema *arrow.Schema, spec *pushdown.Spec) {
	for i := range rapid.IntRange(0, 2).Draw(t, "lookups") {
		if l, ok := lookup(t, spec.Joined(schema), i); ok {
			spec.Lookups = append(spec.Lookups, l)
		}
	}
	if len(spec.Lookups) == 0 {
		return
	}
	for range rapid.IntRange(0, 2).Draw(t, "later conjuncts") {
		l := rapid.SampledFrom(spec.Lookups).Draw(t, "lookup")
		spec.Filter = append(spec.Filter, simplePredicate(t, rapid.SampledFrom(l.Columns).Draw(t, "column")))
	}
}

// lookup draws one by a column or two, in few rows.
func lookup(t *rapid.T, schema *arrow.Schema, number int) (l pushdown.Lookup, ok bool) {
	var fields []arrow.Field
	add := func(dt arrow.DataType) {
		c := pushdown.Column{Name: fmt.Sprintf("l%dc%d", number, len(fields)), DataType: pushdown.ValueType(dt)}
		l.Columns = append(l.Columns, c)
		fields = append(fields, c.Field())
	}
	for range rapid.IntRange(1, 2).Draw(t, "keys") {
		c := anyColumn(t, schema)
		if f, _ := pushdown.FamilyOf(c.DataType); f == pushdown.FamilyFloat {
			continue
		}
		l.Keys, l.On = append(l.Keys, c), append(l.On, len(fields))
		add(c.DataType)
	}
	if len(l.Keys) == 0 {
		return l, false
	}
	for range rapid.IntRange(0, 2).Draw(t, "more") {
		add(rapid.SampledFrom(Types()).Draw(t, "type"))
	}
	for _, b := range Batches(t, memory.DefaultAllocator, arrow.NewSchema(fields, nil), 12) {
		r, err := pushdown.NewRelation(b)
		if err != nil {
			t.Fatal(err)
		}
		l.Relation = r // the last
	}
	return l, true
}

// joined are the rows after lookups, nested loops deep.
func joined(all []pushdown.Lookup, rows []Row) ([]Row, error) {
	for _, l := range all {
		var out []Row
		for _, row := range rows {
			more, err := matches(l, row)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
		rows = out
	}
	return rows, nil
}

func matches(l pushdown.Lookup, row Row) ([]Row, error) {
	if l.Relation == nil {
		return nil, nil
	}
	var out []Row
	for _, vals := range Rows(l.Relation.Rows()) {
		equal := true
		for i, k := range l.Keys {
			v, err := Eval(k, row)
			if err != nil {
				return nil, err
			}
			other := vals[l.On[i]]
			equal = equal && v != nil && other != nil && Compare(v, other) == 0
		}
		if !equal {
			continue
		}
		both := Row{}
		for name, v := range row {
			both[name] = v
		}
		for i, c := range l.Columns {
			both[c.Name] = vals[i]
		}
		out = append(out, both)
	}
	return out, nil
}
