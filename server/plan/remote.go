package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// remote turns every scan of the tree into a RemoteScan.
func (p *Plan) remote() error {
	p.ids = map[*Scan]*RemoteScan{}
	for _, s := range Scans(p.Root) {
		if err := p.addScan(s, s.Reasons); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) addScan(s *Scan, reasons []string) error {
	if s.Table.Err != nil {
		return tableError(s.Table)
	}
	spec, err := specOf(s)
	if err != nil {
		return err
	}
	targets, err := targetsOf(s.Table, spec)
	if err != nil {
		return err
	}
	r := &RemoteScan{
		ID: scanID(len(p.Scans) + 1), Table: s.Table, Spec: spec,
		Types: specTypes(s, &spec), Targets: targets, Reasons: reasons,
	}
	if s.Partial != nil && s.Partial.Reduce != nil {
		r.Whole = s.Partial.Reduce.Why
		r.pin(s.Partial.Reduce)
	}
	p.Scans = append(p.Scans, r)
	if p.ids != nil {
		p.ids[s] = r
	}
	return nil
}

// scanID names the nth scan of a plan in EXPLAIN and in residual SQL.
func scanID(n int) string { return "scan" + strconv.Itoa(n) }

// pin makes every scanner keep to the statistics or promises that the reduction
// relies on.
func (s *RemoteScan) pin(by *Reduce) {
	if !by.Pinned {
		return
	}
	for i := range s.Targets {
		t := &s.Targets[i]
		if t.Pinned = true; by.Promised {
			t.Version = cmp.Or(t.Version, s.Table.PromiseVersions[t.Scanner.Name])
		} else {
			t.Version = s.Table.Versions[t.Scanner.Name]
		}
	}
}

// wholeTable is a scan of all columns.
func wholeTable(t *catalog.Table) *Scan {
	s := &Scan{Table: t, Limit: pushdown.NoLimit}
	for i, f := range t.Arrow.Fields() {
		s.Output = append(s.Output, i)
		s.Types = append(s.Types, importedType(f.Type))
	}
	return s
}

// specOf is the pushdown specification of a scan, in canonical form. It fails
// when the scan asks for something that scanners cannot be asked for.
func specOf(s *Scan) (pushdown.Spec, error) {
	c := converter{s.wide()}
	spec := pushdown.Spec{Table: s.Table.ID(), Limit: s.Limit}
	for _, part := range s.Table.Partitions {
		spec.Partitions = append(spec.Partitions, part.ID)
	}
	var err error
	if spec.Filter, err = c.list(s.Filter); err != nil {
		return spec, err
	}
	if r := s.Table.Restriction; r != nil { // here, so that no way to a scan misses it
		spec.Filter = slices.Concat(spec.Filter, r.Filter)
	}
	if err = c.lookups(&spec, s); err != nil {
		return spec, err
	}
	if s.Partial != nil {
		err = c.partial(&spec, s.Partial)
	} else {
		err = c.rows(&spec, s)
	}
	if err != nil {
		return spec, err
	}
	spec = spec.Canonical()
	spec = spec.WithCarrier(s.Table.Arrow)
	return spec, validate(spec, s.Table)
}

func validate(spec pushdown.Spec, t *catalog.Table) error {
	if len(spec.Partitions) == 0 {
		spec.Partitions = []string{"0"} // an empty table is no fault of the spec
	}
	return spec.Validate(t.FullSchema())
}

// rows fills in the columns and the order of a row scan.
func (c converter) rows(spec *pushdown.Spec, s *Scan) error {
	for _, i := range specColumns(s) {
		spec.Columns = append(spec.Columns, tableColumn(s.Table, i))
	}
	for _, k := range s.OrderBy {
		ref, ok := k.Expr.(*Ref)
		if !ok || ref.Index < 0 {
			return notPushed("ORDER BY an expression is not pushed")
		}
		spec.OrderBy = append(spec.OrderBy, pushdown.SortKey{
			Column: tableColumn(s.Table, ref.Index), Descending: k.Descending, NullsFirst: k.NullsFirst,
		})
	}
	return nil
}

func tableColumn(t *catalog.Table, i int) pushdown.Column {
	f := t.Arrow.Field(i)
	return pushdown.Column{Name: f.Name, DataType: f.Type}
}

// specColumns are the table columns that a row scan reads, each once, in order
// of first use; at least one.
func specColumns(s *Scan) []int {
	var out []int
	for _, i := range s.Output {
		if i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		out = []int{narrowest(s.Table)}
	}
	return out
}

// narrowest is the column that is cheapest to read when only the number of rows
// matters.
func narrowest(t *catalog.Table) int {
	best := 0
	for i, f := range t.Arrow.Fields() {
		if width(f.Type) < width(t.Arrow.Field(best).Type) {
			best = i
		}
	}
	return best
}

// partial fills in keys k0, k1, … and aggregates a0, a1, ….
func (c converter) partial(spec *pushdown.Spec, p *Partial) error {
	keys, err := c.list(p.Keys)
	if err != nil {
		return err
	}
	for i, k := range keys {
		spec.GroupBy = append(spec.GroupBy, pushdown.NamedExpr{Name: fmt.Sprintf("k%d", i), Expr: k})
	}
	for i, a := range p.Aggregates {
		agg := pushdown.Aggregate{Name: fmt.Sprintf("a%d", i), Func: a.Func}
		if a.Arg != nil {
			if agg.Arg, err = c.aggregated(a.Func, a.Arg); err != nil {
				return err
			}
		}
		if a.Filter != nil {
			if agg.Filter, err = c.expr(a.Filter); err != nil {
				return err
			}
		}
		spec.Aggregates = append(spec.Aggregates, agg)
	}
	return reduced(spec, p.Reduce)
}

// SentType is the Arrow type of a column that scanners send for a partial aggregate,
// by its position: the keys, then the aggregates; nil for what cannot be sent.
func (s *Scan) SentType(column int) arrow.DataType {
	spec := pushdown.Spec{}
	if err := (converter{s.wide()}).partial(&spec, &Partial{Keys: s.Partial.Keys, Aggregates: s.Partial.Aggregates}); err != nil {
		return nil
	}
	sent := spec.OutputSchema()
	if column >= sent.NumFields() {
		return nil
	}
	return sent.Field(column).Type
}

// reduced adds a reduction to a partial aggregate.
func reduced(spec *pushdown.Spec, r *Reduce) error {
	if r == nil {
		return nil
	}
	c := converter{groupTable(spec)}
	out := &pushdown.Reduction{Limit: r.Limit}
	var err error
	if out.Filter, err = c.list(r.Filter); err != nil {
		return err
	}
	for _, k := range r.OrderBy {
		column := tableColumn(c.table, k.Expr.(*Ref).Index)
		out.OrderBy = append(out.OrderBy, pushdown.SortKey{Column: column, Descending: k.Descending, NullsFirst: k.NullsFirst})
	}
	if r.Apart >= 0 {
		out.Apart = spec.GroupBy[r.Apart].Name
	}
	spec.Reduce = out
	return nil
}

// groupTable has the groups of a partial aggregate as its rows.
func groupTable(spec *pushdown.Spec) *catalog.Table {
	return &catalog.Table{Name: "groups", Arrow: spec.OutputSchema()}
}

func (c converter) aggregated(f pushdown.AggFunc, arg Expr) (pushdown.Expr, error) {
	if f == pushdown.Count {
		return c.anyColumn(arg)
	}
	return c.expr(arg)
}

// specTypes are the SQL types of the spec's output columns.
func specTypes(s *Scan, spec *pushdown.Spec) []Type {
	if s.Partial != nil {
		return s.Columns()
	}
	out := make([]Type, len(spec.Columns))
	for i, col := range specColumns(s) {
		if at := slices.Index(s.Output, col); at >= 0 {
			out[i] = s.Types[at]
		} else {
			out[i] = importedType(spec.Columns[i].DataType)
		}
	}
	return out
}

// targetsOf gives every partition to one of its healthy owners, leaves out those
// that statistics make superfluous, and splits the spec for each scanner.
func targetsOf(t *catalog.Table, spec pushdown.Spec) ([]Target, error) {
	owners, err := assign(t)
	if err != nil {
		return nil, err
	}
	var out []Target
	for i, part := range t.Partitions {
		at := slices.IndexFunc(out, func(x Target) bool { return x.Scanner == owners[i] })
		if at < 0 {
			at = len(out)
			out = append(out, Target{Scanner: owners[i]})
		}
		out[at].Partitions = append(out[at].Partitions, part.ID)
	}
	slices.SortFunc(out, func(a, b Target) int { return strings.Compare(a.Scanner.Name, b.Scanner.Name) })
	read := spec // before any lookup
	read.Filter, _ = spec.FilterParts()
	buckets := &bucketFilter{filter: read.Filter}
	for i := range out {
		out[i].prune(t, &read, buckets)
		out[i].split(t, spec)
	}
	return out, nil
}

// split divides the spec over the target's partitions.
func (t *Target) split(table *catalog.Table, spec pushdown.Spec) {
	if len(t.Partitions) == 0 {
		confirm := SplitFor(table, t.Scanner, t.confirmation(table))
		t.Split = pushdown.SplitResult{Remote: confirm.Remote}
		return
	}
	spec.Partitions = t.Partitions
	t.Split = SplitFor(table, t.Scanner, spec)
}

// SplitFor divides a spec for one scanner. One whose columns are narrower than
// the table's, and which cannot widen them, sends them as they are: what it did
// to them would be done to other values.
func SplitFor(t *catalog.Table, s *catalog.Scanner, spec pushdown.Spec) pushdown.SplitResult {
	if s.Capabilities.Has(pushdown.CapWiden) || !t.Narrow(s.Name, spec.ReadColumns()) {
		return pushdown.Split(spec, s.Capabilities)
	}
	out := pushdown.Split(spec, pushdown.Capabilities{})
	out.Reasons = []string{"the columns of scanner " + s.Name + " are narrower than the table's, and it cannot widen them"}
	return out
}

// assign chooses an owner for each partition: the largest partitions first,
// each to the healthy owner with the least so far. The same snapshot always
// gives the same choice.
func assign(t *catalog.Table) ([]*catalog.Scanner, error) {
	order := positions(len(t.Partitions))
	weights := partitionWeights(t)
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(weights[b]-weights[a], -1), 1)) })
	owners := make([]*catalog.Scanner, len(t.Partitions))
	load := map[*catalog.Scanner]int64{}
	for _, i := range order {
		owner, err := leastLoaded(t, &t.Partitions[i], load)
		if err != nil {
			return nil, err
		}
		owners[i] = owner
		load[owner] += weights[i]
	}
	return owners, nil
}

// partitionWeights are the row counts, or all 1 when one is unknown.
func partitionWeights(t *catalog.Table) []int64 {
	out := make([]int64, len(t.Partitions))
	unknown := slices.ContainsFunc(t.Partitions, func(p catalog.Partition) bool { return p.Rows < 0 })
	for i, p := range t.Partitions {
		out[i] = 1
		if !unknown {
			out[i] += p.Rows
		}
	}
	return out
}

func leastLoaded(t *catalog.Table, part *catalog.Partition, load map[*catalog.Scanner]int64) (*catalog.Scanner, error) {
	var best *catalog.Scanner
	for _, o := range part.Owners {
		if o.Err == nil && (best == nil || load[o] < load[best]) {
			best = o
		}
	}
	if best == nil {
		return nil, noOwner(t, part)
	}
	return best, nil
}

func noOwner(t *catalog.Table, part *catalog.Partition) error {
	why := mapSlice(part.Owners, func(o *catalog.Scanner) string {
		return fmt.Sprintf("scanner %s at %s: %v", o.Name, o.Addr, o.Err)
	})
	return status.New(status.Unavailable, "partition %s of table %s has no scanner that answers (%s)",
		part.ID, t.ID(), strings.Join(why, "; "))
}

// scanSQL is the SELECT that reads a scan in residual SQL, with columns c0, c1,
// … of the scan's types.
func (p *Plan) scanSQL(s *Scan) string {
	r := p.ids[s]
	names := mapSlice(positions(len(r.Types)), func(i int) string { return "x" + strconv.Itoa(i) })
	columns := specColumns(s)
	items := make([]string, len(s.Columns()))
	for i, t := range s.Columns() {
		at := i
		if s.Partial == nil {
			at = slices.Index(columns, s.Output[i])
		}
		items[i] = columnSQL(r, at, t) + " AS c" + strconv.Itoa(i)
	}
	if len(items) == 0 {
		items = []string{"x0 AS c0"}
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM remote('" + r.ID + "') AS r(" + strings.Join(names, ", ") + ")"
}

// columnSQL reads one column, with a cast where the engine imports it as
// another type. A position of -1 is a column that nobody reads.
func columnSQL(r *RemoteScan, at int, want Type) string {
	if at < 0 {
		return "CAST(0 AS " + string(want) + ")"
	}
	name := "x" + strconv.Itoa(at)
	if got := importedType(r.Spec.OutputSchema().Field(at).Type); got == want || got == "" {
		return name // nested types are what the shadow table made of them
	}
	return "CAST(" + name + " AS " + string(want) + ")"
}

// passesThrough reports whether the result is the rows of one scan as they
// come: no more than a choice of columns and a limit above it.
func (p *Plan) passesThrough() bool {
	if len(p.Scans) != 1 {
		return false
	}
	columns, ok := passedColumns(p.Root)
	return ok && p.yields(columns)
}

// yields reports whether columns of the only scan have the values of the result.
func (p *Plan) yields(columns []int) bool {
	if len(columns) != p.Schema.NumFields() {
		return false
	}
	fields := p.Scans[0].Spec.OutputSchema()
	for i, c := range columns {
		if !sameValues(fields.Field(c).Type, p.Schema.Field(i).Type) {
			return false
		}
	}
	return true
}

func positions(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// passedColumns are the scan's columns that a pass-through tree yields.
func passedColumns(n Node) ([]int, bool) {
	switch n := n.(type) {
	case *Scan:
		return positions(len(n.Output)), n.Partial == nil && len(n.OrderBy) == 0 && slices.Equal(specColumns(n), n.Output)
	case *Limit:
		return passedColumns(n.Input)
	case *Project:
		in, ok := passedColumns(n.Input)
		if !ok {
			return nil, false
		}
		return picked(in, n.Exprs)
	}
	return nil, false
}

// picked are those of the columns that expressions refer to, if they do no more.
func picked(columns []int, exprs []Expr) ([]int, bool) {
	out := make([]int, len(exprs))
	for i, e := range exprs {
		ref, plain := e.(*Ref)
		if !plain {
			return nil, false
		}
		out[i] = columns[ref.Index]
	}
	return out, true
}
