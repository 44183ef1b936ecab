package plan

import "slices"

// lateralUnnest reads unnest(…) in FROM over columns of other tables: DuckDB
// appends the elements to a projection that it did not resolve into positions.
// Only a projection straight over correlated values or nothing is read.
func (r *reader) lateralUnnest(n *jsonNode) (Node, error) {
	p := &n.Children[0]
	if p.Type != "LOGICAL_PROJECTION" || len(p.Children) != 1 {
		return nil, unsupported("unnest over %s", p.Type)
	}
	source := &p.Children[0]
	if source.Type != "LOGICAL_DELIM_GET" && source.Type != "LOGICAL_DUMMY_SCAN" {
		return nil, unsupported("unnest over %s", source.Type)
	}
	in, err := r.node(source)
	if err != nil {
		return nil, err
	}
	exprs, err := expressions(p, unresolved(source, in))
	if err != nil {
		return nil, err
	}
	if err := checkLateral(n, exprs); err != nil {
		return nil, err
	}
	list := exprs[0]
	element, ok := elementType(list.Type())
	if !ok {
		return nil, unsupported("unnest of %s", list.Type())
	}
	width := len(exprs)
	out := []Expr{&Ref{Index: width, RefType: element}}
	for _, c := range n.ProjectedInput {
		out = append(out, &Ref{Index: c, RefType: exprs[c].Type()})
	}
	unnested := &Call{Name: "unnest", Args: []Expr{&Ref{Index: 0, RefType: list.Type()}}, Result: element}
	return &Project{
		Input: &Unnest{Input: &Project{Input: in, Exprs: exprs}, Exprs: []Expr{unnested}},
		Exprs: out,
	}, nil
}

// checkLateral admits the plain form: one list, no ordinality, no filters.
func checkLateral(n *jsonNode, exprs []Expr) error {
	plain := len(n.InputTypes) == 1 && len(exprs) > 0 && len(n.ReturnedTypes) == 1 &&
		len(n.ColumnIndexes) == 1 && n.ColumnIndexes[0].Index == 0 && len(n.TableFilters.Filters) == 0 &&
		(n.OrdinalityIdx == nil || *n.OrdinalityIdx == ^uint64(0)) && len(n.ProjectionIDs) == 0
	if !plain || slices.ContainsFunc(n.ProjectedInput, func(c int) bool { return c < 0 || c >= len(exprs) }) {
		return unsupported("unnest with these columns, filters or ordinality")
	}
	return nil
}

// elementType is the element type of a list.
func elementType(t Type) (Type, bool) {
	if len(t) > 2 && t[len(t)-2:] == "[]" {
		return t[:len(t)-2], true
	}
	return "", false
}
