package plan

import (
	"encoding/json"

	"github.com/tributary-db/tributary/server/catalog"
)

// Read reads DuckDB's bound plan, as json_serialize_plan writes it, into the IR.
// Anything that it does not know is an error of code Unimplemented: the caller
// falls back to the original SQL.
func Read(planJSON []byte, snap *catalog.Snapshot) (Node, error) {
	root, err := decodePlan(planJSON)
	if err != nil {
		return nil, err
	}
	r := reader{snap: snap}
	return r.node(root)
}

// reader holds what a node needs to know of the nodes above it.
type reader struct {
	snap *catalog.Snapshot
	// delims are the correlated joins around the node, innermost last.
	delims []int
	// nextDelim numbers the correlated joins of the plan.
	nextDelim int
}

func (r *reader) node(n *jsonNode) (Node, error) {
	switch n.Type {
	case "LOGICAL_GET":
		return r.get(n)
	case "LOGICAL_FILTER":
		return r.filter(n)
	case "LOGICAL_PROJECTION":
		return r.project(n)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return r.aggregate(n)
	case "LOGICAL_DISTINCT":
		return r.distinct(n)
	case "LOGICAL_CROSS_PRODUCT", "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_DELIM_JOIN",
		"LOGICAL_ASOF_JOIN", "LOGICAL_POSITIONAL_JOIN":
		return r.join(n)
	case "LOGICAL_UNION", "LOGICAL_INTERSECT", "LOGICAL_EXCEPT":
		return r.setOp(n)
	case "LOGICAL_ORDER_BY":
		return r.sort(n)
	case "LOGICAL_TOP_N":
		return r.topN(n)
	case "LOGICAL_LIMIT":
		return r.limit(n)
	case "LOGICAL_WINDOW":
		return r.window(n)
	case "LOGICAL_UNNEST":
		return r.unnest(n)
	case "LOGICAL_MATERIALIZED_CTE", "LOGICAL_RECURSIVE_CTE":
		return r.cte(n)
	}
	return r.leaf(n)
}

func (r *reader) leaf(n *jsonNode) (Node, error) {
	switch n.Type {
	case "LOGICAL_DUMMY_SCAN":
		return &Values{Rows: [][]Expr{{}}}, nil
	case "LOGICAL_EMPTY_RESULT":
		types, err := readTypes(n.ReturnTypes)
		return &Values{Types: types}, err
	case "LOGICAL_CHUNK_GET":
		return chunk(n)
	case "LOGICAL_EXPRESSION_GET":
		return r.expressionGet(n)
	case "LOGICAL_DELIM_GET":
		types, err := readTypes(n.ChunkTypes)
		if err == nil && len(r.delims) == 0 {
			err = unsupported("a correlated scan outside a correlated join")
		}
		if err != nil {
			return nil, err
		}
		return &DelimGet{ID: r.delims[len(r.delims)-1], Types: types}, nil
	case "LOGICAL_CTE_REF":
		if n.IsRecurring {
			return nil, unsupported("recurring references to a recursive CTE")
		}
		types, err := readTypes(n.ChunkTypes)
		return &CTERef{ID: int(n.CTEIndex), Types: types}, err
	}
	return nil, unsupported("the operator %s", n.Type)
}

// child reads the only input of n.
func (r *reader) child(n *jsonNode) (Node, error) {
	if len(n.Children) != 1 {
		return nil, unsupported("%s with %d inputs", n.Type, len(n.Children))
	}
	return r.node(&n.Children[0])
}

// children reads the two inputs of n.
func (r *reader) children(n *jsonNode) (left, right Node, err error) {
	if len(n.Children) != 2 {
		return nil, nil, unsupported("%s with %d inputs", n.Type, len(n.Children))
	}
	if left, err = r.node(&n.Children[0]); err != nil {
		return nil, nil, err
	}
	right, err = r.node(&n.Children[1])
	return left, right, err
}

// expressions decodes the "expressions" of a node that has a flat list of them,
// over the columns of input.
func expressions(n *jsonNode, in scope) ([]Expr, error) {
	var list []jsonExpr
	if len(n.Expressions) > 0 {
		if err := json.Unmarshal(n.Expressions, &list); err != nil {
			return nil, unsupported("the expressions of %s", n.Type)
		}
	}
	return in.exprs(list)
}

func chunk(n *jsonNode) (Node, error) {
	if n.Collection == nil {
		return nil, unsupported("%s without rows", n.Type)
	}
	types, err := readTypes(n.Collection.Types)
	if err != nil {
		return nil, err
	}
	out := &Values{Types: types}
	for c, column := range n.Collection.Values {
		for i := range column {
			v, err := readConst(&column[i])
			if err != nil {
				return nil, err
			}
			if c == 0 {
				out.Rows = append(out.Rows, make([]Expr, len(types)))
			}
			if c >= len(types) || i >= len(out.Rows) {
				return nil, unsupported("%s with ragged rows", n.Type)
			}
			out.Rows[i][c] = v
		}
	}
	return out, nil
}

// expressionGet reads VALUES, which DuckDB keeps over an input whose columns the
// values may use; only constant rows are read.
func (r *reader) expressionGet(n *jsonNode) (Node, error) {
	if len(n.Children) != 1 || n.Children[0].Type != "LOGICAL_DUMMY_SCAN" {
		return nil, unsupported("VALUES over an input")
	}
	types, err := readTypes(n.ExprTypes)
	if err != nil {
		return nil, err
	}
	var rows [][]jsonExpr
	if err := json.Unmarshal(n.Expressions, &rows); err != nil {
		return nil, unsupported("the expressions of %s", n.Type)
	}
	out := &Values{Types: types}
	for _, row := range rows {
		exprs, err := (scope{}).exprs(row)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, exprs)
	}
	return out, nil
}
