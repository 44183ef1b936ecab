package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// emptyColumn and rowID are DuckDB's virtual columns: one that only carries the
// number of rows, and the row's id, which a federated table does not have.
const emptyColumn, rowID = ^uint64(1), ^uint64(0)

// get reads a table or a table function.
func (r *reader) get(n *jsonNode) (Node, error) {
	switch {
	case n.Name == "seq_scan":
		return r.scan(n)
	case n.Name == "unnest" && len(n.Children) == 1:
		return r.lateralUnnest(n)
	case len(n.Children) == 0 && (n.Name == "range" || n.Name == "generate_series"):
		return series(n)
	}
	return nil, unsupported("the table function %s", n.Name)
}

func (r *reader) scan(n *jsonNode) (Node, error) {
	table, err := r.table(n)
	if err != nil {
		return nil, err
	}
	out := &Scan{Table: table, Limit: pushdown.NoLimit, Output: []int{}, Types: []Type{}}
	columns, err := getColumns(n)
	if err != nil {
		return nil, err
	}
	types, err := readTypes(n.ReturnedTypes)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		if c == emptyColumn || c == rowID {
			// DuckDB reads a row id when it needs no column at all; a rule
			// refuses a statement that really uses it.
			out.Output, out.Types = append(out.Output, -1), append(out.Types, virtualType(c))
			continue
		}
		if c >= uint64(len(types)) {
			return nil, unsupported("virtual columns of table %s", table.ID())
		}
		out.Output, out.Types = append(out.Output, int(c)), append(out.Types, types[c])
	}
	out.Filter, err = tableFilters(n, types)
	return out, err
}

func virtualType(column uint64) Type {
	if column == rowID {
		return "BIGINT"
	}
	return "BOOLEAN"
}

// table finds the federated table that a shadow table stands for.
func (r *reader) table(n *jsonNode) (*catalog.Table, error) {
	var data struct{ Schema, Table string }
	if err := json.Unmarshal(n.FunctionData, &data); err != nil {
		return nil, unsupported("a scan of no table")
	}
	t := r.snap.Tables[data.Schema+"."+data.Table]
	if t == nil || t.Arrow == nil {
		return nil, unsupported("the table %s.%s: it is not federated", data.Schema, data.Table)
	}
	fields := mapSlice(n.Names, strings.ToLower)
	for i, name := range fields {
		if i >= t.Arrow.NumFields() || strings.ToLower(t.Arrow.Field(i).Name) != name {
			return nil, unsupported("table %s: its columns changed while the statement was planned", t.ID())
		}
	}
	return t, nil
}

// getColumns are the output columns of a GET as positions in the table.
func getColumns(n *jsonNode) ([]uint64, error) {
	out := make([]uint64, len(n.ColumnIndexes))
	for i, c := range n.ColumnIndexes {
		if len(c.ChildIndexes) > 0 || c.IndexType != "" && c.IndexType != "FULL_READ" {
			return nil, unsupported("a scan of struct fields")
		}
		out[i] = c.Index
	}
	if len(n.ProjectionIDs) == 0 {
		return out, nil
	}
	selected := make([]uint64, len(n.ProjectionIDs))
	for i, p := range n.ProjectionIDs {
		if p < 0 || p >= len(out) {
			return nil, unsupported("a scan's projection of column %d of %d", p, len(out))
		}
		selected[i] = out[p]
	}
	return selected, nil
}

// tableFilters reads the filters that DuckDB pushed into the scan as a canonical
// set of conjuncts over the table's columns.
func tableFilters(n *jsonNode, types []Type) ([]Expr, error) {
	var out []Expr
	for i := range n.TableFilters.Filters {
		f := &n.TableFilters.Filters[i]
		if f.Key >= uint64(len(types)) {
			return nil, unsupported("a filter on row ids")
		}
		e, err := tableFilter(&f.Value, &Ref{Index: int(f.Key), RefType: types[f.Key]})
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, e)
		}
	}
	return canonicalSet(flattenAnd(out)), nil
}

// canonicalSet sorts conjuncts by text and drops duplicates.
func canonicalSet(exprs []Expr) []Expr {
	texts := make(map[Expr]string, len(exprs))
	for _, e := range exprs {
		texts[e] = ExprString(e)
	}
	slices.SortStableFunc(exprs, func(a, b Expr) int { return strings.Compare(texts[a], texts[b]) })
	return slices.CompactFunc(exprs, func(a, b Expr) bool { return texts[a] == texts[b] })
}

// tableFilter reads one filter; nil stands for one that only saves work.
func tableFilter(f *jsonFilter, column *Ref) (Expr, error) {
	switch f.Type {
	case "OPTIONAL_FILTER", "DYNAMIC_FILTER":
		return nil, nil
	case "CONSTANT_COMPARISON":
		return constantFilter(f, column)
	case "IS_NULL", "IS_NOT_NULL":
		kind := strings.ReplaceAll(f.Type, "_", " ")
		return &Operator{Kind: kind, Args: []Expr{column}, Result: "BOOLEAN"}, nil
	case "IN_FILTER":
		return inFilter(f, column)
	case "CONJUNCTION_AND", "CONJUNCTION_OR":
		return conjunctionFilter(f, column)
	case "EXPRESSION_FILTER":
		return scope{columns: []Type{column.RefType}, refs: []Expr{column}}.expr(f.Expr)
	}
	return nil, unsupported("a scan filter of kind %s", f.Type)
}

func constantFilter(f *jsonFilter, column *Ref) (Expr, error) {
	op, ok := comparisons[f.Comparison]
	if !ok {
		return nil, unsupported("the comparison %s", f.Comparison)
	}
	c, err := readConst(f.Constant)
	return &Comparison{Op: op, Left: column, Right: c}, err
}

func inFilter(f *jsonFilter, column *Ref) (Expr, error) {
	args := []Expr{column}
	for i := range f.Values {
		c, err := readConst(&f.Values[i])
		if err != nil {
			return nil, err
		}
		args = append(args, c)
	}
	return &Operator{Kind: "IN", Args: args, Result: "BOOLEAN"}, nil
}

// conjunctionFilter drops optional parts of an AND; an OR with one is optional.
func conjunctionFilter(f *jsonFilter, column *Ref) (Expr, error) {
	or := f.Type == "CONJUNCTION_OR"
	var args []Expr
	for i := range f.Children {
		e, err := tableFilter(&f.Children[i], column)
		if err != nil || e == nil && or {
			return nil, err
		}
		if e != nil {
			args = append(args, e)
		}
	}
	switch len(args) {
	case 0:
		return nil, nil
	case 1:
		return args[0], nil
	}
	return &Conjunction{Or: or, Args: args}, nil
}

// series reads range and generate_series over constants.
func series(n *jsonNode) (Node, error) {
	var args []string
	for i := range n.Parameters {
		c, err := readConst(&n.Parameters[i])
		if err != nil {
			return nil, err
		}
		args = append(args, c.SQL)
	}
	types, err := readTypes(n.ReturnedTypes)
	if err != nil {
		return nil, err
	}
	if len(types) != 1 || len(n.ColumnIndexes) != 1 || n.ColumnIndexes[0].Index != 0 || len(n.TableFilters.Filters) > 0 {
		return nil, unsupported("%s with these columns or filters", n.Name)
	}
	sql := "SELECT c0 FROM " + n.Name + "(" + strings.Join(args, ", ") + ") AS s(c0)"
	return &TableCall{SQL: sql, Types: types}, nil
}
