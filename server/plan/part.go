package plan

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// Part is a share of a plan's rows. It carries all that is needed to read them
// later, here or in another coordinator, and the version of the table that it is
// a share of: the parts of a plan are either all of its rows, or fail.
type Part struct {
	// SQL is the statement of the plan.
	SQL string
	// Schema is the plan's.
	Schema *arrow.Schema
	// Spec is the plan's, over the partitions of the part.
	Spec pushdown.Spec
	// Columns select the spec's output columns, when Residual is empty.
	Columns []int
	// Residual is run over the scan, which it reads as remote('scan1').
	Residual string
	// Scanner, in the life Epoch, owns the partitions; Version is that of its
	// share of the table.
	Scanner, Epoch, Version string
	// Rules are the table's rules for the user.
	Rules string
	// Location is where clients may read the part from the scanner itself, empty
	// when it needs a coordinator. SchemaVersion is that of the scanner's table.
	Location, SchemaVersion string
}

// Parts divides a plan into one part for each scanner, or for each partition.
// The union of the parts must be the plan's result: it has them when it handles
// every row on its own or, by scanner, when it forms groups none of which is on
// two scanners. The error says why another plan has none.
func (p *Plan) Parts(eachPartition bool) ([]Part, error) {
	scan, err := p.divisible()
	if err != nil {
		return nil, err
	}
	eachPartition = eachPartition && !scan.Spec.Grouped()
	whole := Part{SQL: p.SQL, Schema: p.Schema, Spec: scan.Spec, Residual: p.Residual, Rules: scan.Table.Rules()}
	if p.Kind == PassThrough {
		whole.Columns, _ = passedColumns(p.Root)
	}
	var parts []Part
	for i := range scan.Targets {
		t := &scan.Targets[i]
		version := scan.Table.Versions[t.Scanner.Name]
		if version == "" || !scan.Table.Versioned[t.Scanner.Name] {
			return nil, notDivided("scanner %s does not know a version of table %s (files that were written just now have none yet)", t.Scanner.Name, scan.Table.ID())
		}
		part := whole
		part.Scanner, part.Epoch, part.Version = t.Scanner.Name, t.Scanner.Epoch, version
		if p.Kind == PassThrough && t.Split.Residual == nil && len(t.Partitions) > 0 {
			part.Location, part.SchemaVersion = t.Scanner.Advertise, scan.Table.Schemas[t.Scanner.Name].Version
		}
		read := t.Partitions
		if len(read) == 0 { // no row passes; the scanner must confirm it all the same
			read = t.Unread()[:1]
		}
		for _, ids := range shares(read, eachPartition) {
			part.Spec.Partitions = ids
			parts = append(parts, part)
		}
	}
	return parts, nil
}

func shares(ids []string, each bool) [][]string {
	if !each {
		return [][]string{ids}
	}
	return mapSlice(ids, func(id string) []string { return []string{id} })
}

// divisible returns the scan of a plan that handles every row on its own.
func (p *Plan) divisible() (*RemoteScan, error) {
	if p.Root == nil {
		return nil, notDivided("%s", kindText(p.Kind))
	}
	if len(p.Scans) != 1 || p.Scans[0].ID != scanID(1) {
		return nil, notDivided("it reads %d tables", len(p.Scans))
	}
	if err := (divider{p.Scans[0]}).rows(p.Root); err != nil {
		return nil, err
	}
	if len(p.Scans[0].Targets) == 0 {
		return nil, notDivided("table %s has no partitions", p.Scans[0].Table.ID())
	}
	return p.Scans[0], nil
}

// divider looks for a reason why the result of a plan is not the union of what
// it makes of each scanner's part of its one scan.
type divider struct{ scan *RemoteScan }

// rows: what the tree makes of a row depends on no other row, or on those of its
// group, which are on one scanner.
func (d divider) rows(n Node) error {
	switch n := n.(type) {
	case *Scan:
		if n.Partial != nil || n.Limit != pushdown.NoLimit || len(n.OrderBy) > 0 {
			return notDivided("its rows depend on each other")
		}
		return nil
	case *Filter:
		return d.rows(n.Input)
	case *Project:
		return d.rows(n.Input)
	case *Unnest:
		return d.rows(n.Input)
	case *Aggregate:
		return d.groups(n)
	case *Distinct:
		return d.distinct(n)
	}
	return notDivided("its rows depend on each other: %s", strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan."))
}

func notDivided(format string, args ...any) error {
	return status.New(status.Unimplemented, "the result is not divided: "+format, args...)
}

// Plan is the plan that reads the part.
func (p *Part) Plan(snap *catalog.Snapshot) (*Plan, error) {
	table, scanner, err := p.owner(snap)
	if err != nil {
		return nil, err
	}
	r := &RemoteScan{ID: scanID(1), Table: table, Spec: p.Spec, Targets: []Target{{
		Scanner: scanner, Partitions: p.Spec.Partitions, Version: p.Version, Pinned: true,
		Split: SplitFor(table, scanner, p.Spec),
	}}}
	for _, c := range p.Spec.Columns {
		r.Types = append(r.Types, importedType(c.DataType))
	}
	out := &Plan{
		SQL: p.SQL, Snapshot: snap.Version, Options: Options{Pushdown: PushdownFull}, Schema: p.Schema,
		Kind: Residual, Residual: p.Residual, Scans: []*RemoteScan{r},
	}
	if p.Residual == "" {
		out.Kind, out.Root = PassThrough, p.passed(table, r.Types)
	}
	return out, nil
}

// owner finds the table and the scanner of the part as they were.
func (p *Part) owner(snap *catalog.Snapshot) (*catalog.Table, *catalog.Scanner, error) {
	table, scanner := snap.Tables[p.Spec.Table], snap.Scanners[p.Scanner]
	switch {
	case table == nil:
		return nil, nil, status.New(status.Aborted, "table %s is not there any more: execute the statement again", p.Spec.Table)
	case table.Err != nil:
		return nil, nil, tableError(table)
	case table.Rules() != p.Rules:
		return nil, nil, status.New(status.Aborted, "what may be read of table %s has changed: execute the statement again", p.Spec.Table)
	case scanner == nil:
		return nil, nil, status.New(status.Unavailable, "scanner %s is not known here", p.Scanner)
	case scanner.Err != nil:
		return nil, nil, status.Wrap(status.Unavailable, scanner.Err, "scanner %s cannot be asked for its part of table %s", p.Scanner, p.Spec.Table)
	case scanner.Epoch != p.Epoch:
		return nil, nil, status.New(status.Aborted, "scanner %s has restarted since the statement was planned: execute it again", p.Scanner)
	}
	return table, scanner, nil
}

// passed is the tree of a pass-through.
func (p *Part) passed(table *catalog.Table, types []Type) Node {
	scan := &Scan{Table: table, Types: types, Limit: pushdown.NoLimit}
	for _, c := range p.Spec.Columns {
		scan.Output = append(scan.Output, table.Arrow.FieldIndices(c.Name)...)
	}
	return &Project{Input: scan, Exprs: mapSlice(p.Columns, func(c int) Expr { return &Ref{Index: c, RefType: types[c]} })}
}
