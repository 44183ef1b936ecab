package exec

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// remoteScan is one scan of a query. It may be opened several times.
type remoteScan struct {
	query  *query
	plan   *plan.RemoteScan
	schema *arrow.Schema // of the whole output
	stats  []*targetStats
	shared *quota // with other scans, nil for none
	// narrowed: it has got filters beside those of the plan.
	narrowed bool

	mu    sync.Mutex
	opens int
}

func newRemoteScan(q *query, p *plan.RemoteScan) *remoteScan {
	s := &remoteScan{query: q, plan: p, schema: p.Spec.OutputSchema()}
	for i := range p.Targets {
		s.stats = append(s.stats, newTargetStats(&p.Spec, &p.Targets[i]))
		q.exec.metrics.split(p.Targets[i].Split)
	}
	return s
}

// attempt numbers the openings, for scan ids.
func (s *remoteScan) attempt() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opens++
	return s.opens
}

// work is what one stream does: the spec wanted of it, the part that the
// scanner runs, and the rest.
type work struct {
	full     pushdown.Spec
	remote   pushdown.Spec
	residual *pushdown.Spec
	// sent is remote as the scanner is asked: of one that cannot widen its columns,
	// they are asked for as they are.
	sent pushdown.Spec
	// project selects the wanted columns of the result; nil is all of them.
	project []int
}

// work returns what a target is asked for when only some columns of the scan's
// output are wanted (nil: all).
func (s *remoteScan) work(t *plan.Target, columns []int) work {
	w := work{full: s.plan.Spec, remote: t.Split.Remote, residual: t.Split.Residual}
	if len(t.Partitions) == 0 { // it confirms statistics, and sends no rows
		w.project, w.sent = columns, s.asOwned(t, w.remote)
		return w
	}
	w.full.Partitions, w.remote.Partitions = t.Partitions, t.Partitions
	if w.residual != nil {
		residual := *w.residual
		residual.Partitions = t.Partitions
		w.residual = &residual
	}
	switch {
	case columns == nil || identity(columns, s.schema.NumFields()):
	case w.full.Grouped():
		w.project = columns
	default:
		w.narrow(columns)
	}
	w.sent = s.asOwned(t, w.remote)
	return w
}

// asOwned asks a scanner that cannot widen for its columns as it has them, at
// least one.
func (s *remoteScan) asOwned(t *plan.Target, spec pushdown.Spec) pushdown.Spec {
	if t.Scanner.Capabilities.Has(pushdown.CapWiden) || !s.plan.Table.Narrow(t.Scanner.Name, spec.InputColumns()) {
		return spec
	}
	own := s.plan.Table.Schemas[t.Scanner.Name].Arrow
	var out []pushdown.Column
	for _, c := range spec.Columns {
		if at := own.FieldIndices(c.Name); len(at) > 0 {
			out = append(out, pushdown.Column{Name: c.Name, DataType: own.Field(at[0]).Type})
		}
	}
	if len(out) == 0 { // the number of rows still matters
		out = append(out, pushdown.Column{Name: own.Field(0).Name, DataType: own.Field(0).Type})
	}
	spec.Columns = out
	return spec
}

// narrow makes a row scan yield only the given columns.
func (w *work) narrow(columns []int) {
	wanted := make([]pushdown.Column, len(columns))
	for i, c := range columns {
		wanted[i] = w.full.Columns[c]
	}
	w.full.Columns = wanted
	if w.residual == nil {
		w.remote.Columns = wanted
		return
	}
	w.residual.Columns = wanted
	if needed := w.residual.InputColumns(); len(needed) > 0 {
		w.remote.Columns = needed
	}
}

// identity reports whether columns selects all n columns in order.
func identity(columns []int, n int) bool {
	return len(columns) == n && slices.IsSorted(columns) && (n == 0 || columns[0] == 0 && columns[n-1] == n-1)
}

// output is the schema of the rows of the selected columns (nil: all).
func (s *remoteScan) output(columns []int) *arrow.Schema {
	if columns == nil {
		return s.schema
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = s.schema.Field(c)
	}
	return arrow.NewSchema(fields, nil)
}
