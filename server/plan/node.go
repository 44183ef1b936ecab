package plan

import (
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// Node is a relational operator. Columns are positional: an expression's
// Ref{Index} counts the columns of the node's input (for a join the left
// columns, then the right ones). The set is sealed.
type Node interface {
	// Columns are the types of the output columns.
	Columns() []Type
	// Inputs are the children, left to right.
	Inputs() []Node
	isNode()
}

// Scan reads one federated table. Rules move work into it.
type Scan struct {
	// Table is the federated table.
	Table *catalog.Table
	// Output are the positions in Table.Arrow of the output columns.
	// -1 is DuckDB's row id or a column that only carries the row count.
	Output []int
	// Types are the types of the output columns.
	Types []Type
	// Filter is a canonical set of conjuncts over the *table's* columns
	// (Ref.Index is a position in Table.Arrow).
	Filter []Expr
	// Partial, when set, makes the scan yield partial aggregate rows:
	// keys, then aggregates; Output is then nil.
	Partial *Partial
	// Joined, when set, joins the rows with small tables below Partial.
	Joined *Joined
	// OrderBy and Limit (or pushdown.NoLimit) reduce the rows of each scanner.
	OrderBy []SortKey
	Limit   int64
	// Reasons say why more was not pushed, for EXPLAIN.
	Reasons []string
	// Runtime is what was found out while the plan ran, or nil.
	Runtime *Runtime
}

// Partial is a partial aggregate inside a Scan; expressions are over the
// table's columns, like Scan.Filter.
type Partial struct {
	Keys       []Expr
	Aggregates []PartialAggregate
	// Reduce drops groups that the operators above would drop; nil keeps all.
	Reduce *Reduce
}

// Reduce drops rows of a Partial that are whole groups; expressions are over
// the Partial's columns.
type Reduce struct {
	Filter  []Expr
	OrderBy []SortKey
	Limit   int64
	// Apart is the key whose NULL groups are not whole, -1 for none.
	Apart int
	// Pinned: that groups are whole follows from statistics, or if Promised from
	// what owners promise, which must hold to the end.
	Pinned, Promised bool
	// Why says why groups are whole, for EXPLAIN.
	Why string
}

// PartialAggregate is one merge-stable aggregate.
type PartialAggregate struct {
	Func   pushdown.AggFunc
	Arg    Expr // nil for CountStar
	Filter Expr // nil for all rows
	Type   Type // type of the partial result
}

// Filter keeps the rows for which all conjuncts are true.
type Filter struct {
	Input     Node
	Conjuncts []Expr
	// Projection, when not nil, selects output columns of Input.
	Projection []int
}

// Project computes expressions.
type Project struct {
	Input Node
	Exprs []Expr
}

// Aggregate groups and aggregates: output is Keys, Aggregates, then one column
// for each of Groupings.
type Aggregate struct {
	Input      Node
	Keys       []Expr
	Aggregates []Expr // AggCall, possibly wrapped by rules in ordinary expressions over AggCalls
	// Sets are grouping sets as key positions; nil or one full set is plain
	// GROUP BY.
	Sets [][]int
	// Groupings are the argument positions of GROUPING() calls.
	Groupings [][]int
}

// Distinct removes duplicate rows. On, when not empty, is DISTINCT ON.
type Distinct struct {
	Input   Node
	On      []Expr
	OrderBy []SortKey
}

// JoinKind is the kind of a join.
type JoinKind string

// The join kinds, named as DuckDB names them.
const (
	InnerJoin     JoinKind = "INNER"
	LeftJoin      JoinKind = "LEFT"
	RightJoin     JoinKind = "RIGHT"
	OuterJoin     JoinKind = "OUTER"
	SemiJoin      JoinKind = "SEMI"
	AntiJoin      JoinKind = "ANTI"
	RightSemiJoin JoinKind = "RIGHT_SEMI"
	RightAntiJoin JoinKind = "RIGHT_ANTI"
	MarkJoin      JoinKind = "MARK"
	SingleJoin    JoinKind = "SINGLE"
	// AsofJoin and AsofLeftJoin match the nearest row; PositionalJoin the row
	// of the same number. Nothing may be moved through them.
	AsofJoin       JoinKind = "ASOF"
	AsofLeftJoin   JoinKind = "ASOF_LEFT"
	PositionalJoin JoinKind = "POSITIONAL"
)

// Join joins two inputs. Conditions are conjuncts over left then right columns.
// A cross product is an InnerJoin without conditions.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	Conditions  []JoinCondition
	// Delim, when not nil, marks a correlated join: the distinct values of
	// these expressions over the source side are what DelimGet yields.
	Delim *Delim
	// LeftProjection and RightProjection, when not nil, select columns.
	LeftProjection, RightProjection []int
}

// JoinCondition is `Left Op Right` with each side over its own input, or, when
// Op is empty, the boolean Left over left then right columns.
type JoinCondition struct {
	Op          string // "=", "<>", "<", "<=", ">", ">=", "IS NOT DISTINCT FROM", "IS DISTINCT FROM"
	Left, Right Expr
}

// Delim describes the duplicate-eliminated side of a correlated join.
type Delim struct {
	ID      int
	Columns []Expr
	// Flipped: the source side is the right input.
	Flipped bool
}

// DelimGet reads the duplicate-eliminated columns of the Delim with that ID.
type DelimGet struct {
	ID    int
	Types []Type
}

// SetOp is UNION, INTERSECT or EXCEPT.
type SetOp struct {
	Op          string // "UNION", "INTERSECT", "EXCEPT"
	All         bool
	InputNodes  []Node
	OutputTypes []Type
}

// SortKey is one ORDER BY key.
type SortKey struct {
	Expr       Expr
	Descending bool
	NullsFirst bool
}

// Sort orders its input.
type Sort struct {
	Input      Node
	Keys       []SortKey
	Projection []int
}

// TopN is Sort with a limit and an offset.
type TopN struct {
	Input         Node
	Keys          []SortKey
	Limit, Offset int64
}

// Limit keeps Count rows (pushdown.NoLimit: all) after Offset rows.
type Limit struct {
	Input         Node
	Count, Offset int64
}

// Window appends one column for each window expression.
type Window struct {
	Input Node
	Exprs []Expr
}

// CTE materialises Definition under ID for the CTERefs in Body.
type CTE struct {
	ID         int
	Definition Node
	Body       Node
}

// CTERef reads a CTE.
type CTERef struct {
	ID    int
	Types []Type
}

// RecursiveCTE is the rows of Base and, until there are no new ones, those of
// Step, which reads the rows of the round before through CTERef{ID}.
type RecursiveCTE struct {
	ID         int
	All        bool
	Base, Step Node
}

// Unnest appends unnested list columns.
type Unnest struct {
	Input Node
	Exprs []Expr
}

// Values is a constant table; Rows may be empty.
type Values struct {
	Rows  [][]Expr
	Types []Type
}

// TableCall is a table function of the engine over constants, such as
// generate_series, as a complete SELECT whose columns are named c0, c1, ….
type TableCall struct {
	SQL   string
	Types []Type
}

func (*TableCall) isNode()    {}
func (*Scan) isNode()         {}
func (*Filter) isNode()       {}
func (*Project) isNode()      {}
func (*Aggregate) isNode()    {}
func (*Distinct) isNode()     {}
func (*Join) isNode()         {}
func (*DelimGet) isNode()     {}
func (*SetOp) isNode()        {}
func (*Sort) isNode()         {}
func (*TopN) isNode()         {}
func (*Limit) isNode()        {}
func (*Window) isNode()       {}
func (*CTE) isNode()          {}
func (*CTERef) isNode()       {}
func (*RecursiveCTE) isNode() {}
func (*Unnest) isNode()       {}
func (*Values) isNode()       {}
