package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// Joined are inner joins of a Scan's rows, below its Partial, with small tables
// whose rows travel with the scan. Expressions of the scan count the columns of
// Table.Arrow, then those of the lookups.
type Joined struct {
	// Large is the scan by itself, as it stands in the plan without the lookups.
	Large *Scan
	// Lookups are in the order in which rows are looked up.
	Lookups []Lookup
}

// Lookup is one of the joins.
type Lookup struct {
	// Small is the scan of the small table; what it yields are the lookup's columns.
	Small *Scan
	// Keys, over the columns before, are compared with the columns On.
	Keys []Expr
	On   []int
	// Columns are what its scanners send.
	Columns []pushdown.Column
}

// newLookup has no keys yet. number tells its columns from others'.
func newLookup(small *Scan, number int) Lookup {
	l := Lookup{Small: small}
	for _, i := range specColumns(small) {
		f := small.Table.Arrow.Field(i)
		l.Columns = append(l.Columns, pushdown.Column{Name: strconv.Itoa(number) + "." + f.Name, DataType: pushdown.ValueType(f.Type)})
	}
	return l
}

// wide is the scan's table with the columns of its lookups.
func (n *Scan) wide() *catalog.Table {
	if n.Joined == nil || n.Table.Arrow == nil {
		return n.Table
	}
	t := *n.Table
	fields := slices.Clone(t.Arrow.Fields())
	for _, l := range n.Joined.Lookups {
		for _, c := range l.Columns {
			fields = append(fields, c.Field())
		}
	}
	t.Arrow = arrow.NewSchema(fields, nil)
	return &t
}

// lookups adds the scan's lookups to a spec, without their rows.
func (c converter) lookups(spec *pushdown.Spec, s *Scan) (err error) {
	if s.Joined == nil {
		return nil
	}
	for _, l := range s.Joined.Lookups {
		out := pushdown.Lookup{Columns: l.Columns, On: l.On}
		if out.Keys, err = c.list(l.Keys); err != nil {
			return err
		}
		spec.Lookups = append(spec.Lookups, out)
	}
	return nil
}

// WithRelations returns r, which has lookups, with the rows of their relations.
func (r *RemoteScan) WithRelations(rows []*pushdown.Relation) *RemoteScan {
	fill := func(spec *pushdown.Spec) {
		spec.Lookups = slices.Clone(spec.Lookups)
		for i := range spec.Lookups {
			spec.Lookups[i].Relation = rows[i]
		}
	}
	out := *r
	fill(&out.Spec)
	out.Targets = slices.Clone(r.Targets)
	for i := range out.Targets {
		split := &out.Targets[i].Split
		fill(&split.Remote)
		if split.Residual != nil {
			residual := *split.Residual
			fill(&residual)
			split.Residual = &residual
		}
	}
	return &out
}

func (j *Joined) text(column func(int) string) string {
	if j == nil {
		return ""
	}
	parts := mapSlice(j.Lookups, func(l Lookup) string {
		keys := mapSlice(positions(len(l.Keys)), func(i int) string {
			return exprText(l.Keys[i], column) + " = " + l.Columns[l.On[i]].Name
		})
		return " lookup(" + strings.Join(keys, " AND ") + ") in " + scanLine(l.Small)
	})
	return strings.Join(parts, "")
}
