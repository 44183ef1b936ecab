package plan

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// PlanKind says who produces the result.
type PlanKind string

// The kinds of plans.
const (
	// PassThrough: the batches of the only scan are the result, after choosing
	// columns and cutting to a limit. Root tells which.
	PassThrough PlanKind = "pass-through"
	// Residual: the engine runs Plan.Residual over the scans.
	Residual PlanKind = "residual"
	// Original: the engine runs Plan.SQL over views of the scans, each of which
	// is a whole table.
	Original PlanKind = "original"
	// Local: the planning instance runs Plan.SQL; no federated table is read.
	Local PlanKind = "local"
)

// Plan is what the executor runs. It is immutable.
type Plan struct {
	// SQL is the statement.
	SQL string
	// Snapshot is the version of the catalog that the plan was made for.
	Snapshot uint64
	// Options are those it was made with.
	Options Options
	// Schema is the schema of the result.
	Schema *arrow.Schema
	// Kind says who produces the result.
	Kind PlanKind
	// Root is the plan after the rules; nil for Original and Local. Of a
	// PassThrough it is a Scan under Projects of plain columns and Limits.
	Root Node
	// Scans are the remote scans, in the order of Root.
	Scans []*RemoteScan
	// Residual is the SQL over the scans of a Residual plan. It reads a scan as
	// remote('<RemoteScan.ID>').
	Residual string
	// Merge is how a Residual plan can do without Residual; nil when it cannot.
	Merge *Merge
	// Broadcast is another way to run a Residual plan, nil for none.
	Broadcast *Broadcast
	// Fired are the names of the rules that changed the plan.
	Fired []string
	// Reasons say why the plan is on a low rung.
	Reasons []string

	ids    map[*Scan]*RemoteScan
	middle Node // before aggregates moved
}

// RemoteScan is one scan of the plan, divided among scanners.
type RemoteScan struct {
	// ID names the scan in the residual SQL.
	ID string
	// Table is the federated table.
	Table *catalog.Table
	// Spec is all that is wanted of the table, in canonical form, over all
	// partitions. Its output columns, in order, are those of remote('ID').
	Spec pushdown.Spec
	// Types are the SQL types of Spec's output columns.
	Types []Type
	// Targets are the scanners that serve it, in name order; none when the
	// table has no partition.
	Targets []Target
	// Reasons say why more was not pushed.
	Reasons []string
	// Whole says why each scanner has whole groups, when the spec reduces them.
	Whole string
}

// Target is one scanner's part of a RemoteScan.
type Target struct {
	// Scanner runs Split.Remote.
	Scanner *catalog.Scanner
	// Partitions are those that it reads, in table order. When there are none it
	// is only asked whether it still has Version.
	Partitions []string
	// Pruned are partitions of the scanner in which no row passes the filter, as
	// long as its part of the table has Version: the scan has to compare it. A
	// scanner that takes over from this one must read them instead.
	Pruned  []string
	Version string
	// Pinned: all rows must be of Version; no other scanner may take over.
	Pinned bool
	// PrunedBy are the columns whose statistics excluded Pruned.
	PrunedBy []string
	// Known are partitions of which statistics give the row of an aggregate
	// without keys: Answers has one, in the order of the spec's output, for each.
	// They depend on Version as Pruned does.
	Known   []string
	Answers [][]scalar.Scalar
	// Split divides the spec, with these partitions, between the scanner and
	// the coordinator. Without partitions Remote is a scan of no rows.
	Split pushdown.SplitResult
}

// Unread are the partitions that are not read as long as Version holds.
func (t *Target) Unread() []string { return slices.Concat(t.Pruned, t.Known) }
