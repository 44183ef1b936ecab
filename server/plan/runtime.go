package plan

import (
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// Runtime is what was found out about a Scan while its plan ran. It only makes
// the scan yield fewer rows, namely none that matters to the result: whoever
// ignores it gets the same answer.
type Runtime struct {
	// Removed: no row of the scan matters, so it need not be read.
	Removed bool
	// Filters narrow it, in the order in which they were found.
	Filters []RuntimeFilter
	// Late narrow it while it runs, in the order in which they were found. Rows that
	// do not meet them may still come.
	Late []RuntimeFilter
	// Lookups name the scans whose rows it looks up, if the plan's Broadcast is run.
	Lookups []string
}

// RuntimeFilter is a condition on one column of the table.
type RuntimeFilter struct {
	// Column is a position in Table.Arrow.
	Column int
	// Source names the scan and its column whose values it comes from.
	Source string
	// Text says what it is, without the values.
	Text string
	// Expr is the condition.
	Expr pushdown.Expr
}

func (r *Runtime) text(column func(int) string) string {
	if r.Removed {
		return "removed"
	}
	var parts []string
	add := func(name string, filters []RuntimeFilter) {
		if len(filters) > 0 {
			parts = append(parts, name+strings.Join(mapSlice(filters, func(f RuntimeFilter) string { return column(f.Column) + " " + f.Text }), " AND "))
		}
	}
	add("runtime=", r.Filters)
	add("late=", r.Late)
	if len(r.Lookups) > 0 {
		parts = append(parts, "broadcast=["+strings.Join(r.Lookups, ", ")+"]")
	}
	return strings.Join(parts, " ")
}

// Narrow returns r with conditions that drop rows which do not matter. A scanner
// that cannot evaluate one of them sends the rows: nobody makes up for it. The
// partitions that statistics or promises exclude are not read.
func (r *RemoteScan) Narrow(filters []pushdown.Expr) *RemoteScan {
	out := *r
	out.Targets = slices.Clone(r.Targets)
	for i := range out.Targets {
		out.Targets[i].narrow(r, filters)
	}
	return &out
}

func (t *Target) narrow(r *RemoteScan, filters []pushdown.Expr) {
	remote := t.Split.Remote
	if len(t.Partitions) == 0 || remote.Limit != pushdown.NoLimit {
		return // nothing is read, or a limit that must see all rows
	}
	for _, f := range filters {
		if t.evaluates(r.Table, f) {
			remote.Filter = append(slices.Clone(remote.Filter), f)
		}
	}
	spec := r.Spec
	spec.Filter = filters
	t.Pruned, t.PrunedBy = slices.Clip(t.Pruned), slices.Clip(t.PrunedBy) // others run the same plan
	if t.prune(r.Table, &spec, &bucketFilter{filter: filters}); len(t.Partitions) == 0 {
		t.split(r.Table, spec)
		return
	}
	remote.Partitions = t.Partitions
	t.Split.Remote = remote.Canonical()
}

// evaluates reports whether the scanner runs a filter over the rows that it sends:
// where it has one of their columns another way it sends them as they are.
func (t *Target) evaluates(table *catalog.Table, filter pushdown.Expr) bool {
	rows := pushdown.Spec{Table: table.ID(), Partitions: t.Partitions, Filter: []pushdown.Expr{filter}, Limit: pushdown.NoLimit}
	rows.Columns = t.Split.Remote.ReadColumns()
	rows.Columns = rows.InputColumns() // with the filter's
	return SplitFor(table, t.Scanner, rows).Residual == nil
}
