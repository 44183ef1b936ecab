package plan

// narrowedOutside reports whether a join around some subplans may find out, while
// the plan runs, that few of the rows below them matter: what is shared must have
// all rows that any of its readers needs.
func narrowedOutside(root Node, subplans []Node) bool {
	a := joinedColumns{inside: map[*Scan]bool{}, ctes: map[int]Node{}, parent: map[scannedColumn]scannedColumn{}}
	within := map[Node]bool{}
	for _, n := range subplans {
		within[n] = true
		for _, s := range Scans(n) {
			a.inside[s] = true
		}
	}
	Walk(root, func(n Node) bool {
		if cte, ok := n.(*CTE); ok {
			a.ctes[cte.ID] = cte.Definition
		}
		return true
	})
	var outside []*Scan
	Walk(root, func(n Node) bool {
		switch n := n.(type) {
		case *Join:
			a.join(n)
		case *Scan:
			outside = append(outside, n)
		}
		return !within[n]
	})
	return a.narrowed(outside)
}

// scannedColumn is a column of a scan, by its position in the table.
type scannedColumn struct {
	scan   *Scan
	column int
}

// joinedColumns are the classes of columns that joins compare for equality.
type joinedColumns struct {
	inside map[*Scan]bool // scans of the subplans
	ctes   map[int]Node   // definitions
	parent map[scannedColumn]scannedColumn
}

func (a *joinedColumns) class(o scannedColumn) scannedColumn {
	for {
		up, ok := a.parent[o]
		if !ok {
			return o
		}
		o = up
	}
}

func (a *joinedColumns) join(n *Join) {
	for _, c := range n.Conditions {
		l, lok := c.Left.(*Ref)
		r, rok := c.Right.(*Ref)
		if c.Op != "=" && c.Op != "IS NOT DISTINCT FROM" || !lok || !rok {
			continue
		}
		same := append(a.origins(n.Left, l.Index), a.origins(n.Right, r.Index)...)
		for _, o := range same {
			if from, to := a.class(o), a.class(same[0]); from != to {
				a.parent[from] = to
			}
		}
	}
}

// origins are the columns of scans that a column is taken from unchanged.
func (a *joinedColumns) origins(n Node, column int) []scannedColumn {
	switch n := n.(type) {
	case *Scan:
		return scanColumnOf(n, column)
	case *Filter:
		return a.origins(n.Input, Projected(n.Projection, column))
	case *Sort:
		return a.origins(n.Input, Projected(n.Projection, column))
	case *Project:
		return a.refOrigins(n.Input, n.Exprs, column)
	case *Aggregate:
		return a.refOrigins(n.Input, n.Keys, column)
	case *Join:
		left, at, ok := n.Side(column)
		switch {
		case !ok:
			return nil
		case left:
			return a.origins(n.Left, at)
		}
		return a.origins(n.Right, at)
	case *SetOp:
		var out []scannedColumn
		for _, in := range n.InputNodes {
			out = append(out, a.origins(in, column)...)
		}
		return out
	case *CTE:
		return a.origins(n.Body, column)
	case *CTERef:
		if definition := a.ctes[n.ID]; definition != nil {
			return a.origins(definition, column)
		}
		return nil
	}
	if in := n.Inputs(); len(in) == 1 && column < len(in[0].Columns()) {
		return a.origins(in[0], column) // it appends columns, if any
	}
	return nil
}

func (a *joinedColumns) refOrigins(in Node, exprs []Expr, column int) []scannedColumn {
	if column >= len(exprs) {
		return nil
	}
	if ref, ok := exprs[column].(*Ref); ok {
		return a.origins(in, ref.Index)
	}
	return nil
}

func scanColumnOf(s *Scan, column int) []scannedColumn {
	if s.Partial == nil {
		return []scannedColumn{{s, s.Output[column]}}
	}
	if column < len(s.Partial.Keys) {
		if ref, ok := s.Partial.Keys[column].(*Ref); ok {
			return []scannedColumn{{s, ref.Index}}
		}
	}
	return nil
}

// narrowed goes from the scans outside that have a filter to those that are joined
// with them, and so on, until one is inside.
func (a *joinedColumns) narrowed(outside []*Scan) bool {
	classes := map[*Scan][]scannedColumn{}
	for o := range a.parent {
		classes[o.scan] = append(classes[o.scan], a.class(o))
		top := a.class(o)
		classes[top.scan] = append(classes[top.scan], top)
	}
	few := map[scannedColumn]bool{} // classes of which a scan has few values
	reached := map[*Scan]bool{}
	for changed := true; changed; {
		changed = false
		for s, in := range classes {
			selective := reached[s]
			for _, c := range in {
				selective = selective || few[c]
			}
			if !selective && (len(s.Filter) == 0 || a.inside[s]) || reached[s] {
				continue
			}
			if a.inside[s] {
				return true
			}
			reached[s], changed = true, true
			for _, c := range in {
				few[c] = true
			}
		}
	}
	return false
}
