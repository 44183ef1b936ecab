package plan

// WalkExpr visits e and its parts in pre-order; where f returns false it does
// not descend.
func WalkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, a := range args(e) {
		WalkExpr(a, f)
	}
}

// args returns the direct parts of an expression, without absent ones.
func args(e Expr) []Expr {
	switch e := e.(type) {
	case *Cast:
		return []Expr{e.Arg}
	case *Comparison:
		return []Expr{e.Left, e.Right}
	case *Conjunction:
		return e.Args
	case *Between:
		return []Expr{e.Arg, e.Low, e.High}
	case *Case:
		return caseArgs(e)
	case *Operator:
		return e.Args
	case *Call:
		return e.Args
	case *Lambda:
		return []Expr{e.Body}
	case *AggCall:
		return present(e.Args, []Expr{e.Filter}, keyExprs(e.OrderBy))
	case *WindowCall:
		return present(e.Args, []Expr{e.Filter}, e.Partition, keyExprs(e.OrderBy), keyExprs(e.ArgOrders), e.FrameArgs)
	}
	return nil
}

func caseArgs(e *Case) []Expr {
	var out []Expr
	for _, w := range e.Whens {
		out = append(out, w.Cond, w.Then)
	}
	return present(out, []Expr{e.Else})
}

func present(lists ...[]Expr) []Expr {
	var out []Expr
	for _, l := range lists {
		for _, e := range l {
			if e != nil {
				out = append(out, e)
			}
		}
	}
	return out
}

func keyExprs(keys []SortKey) []Expr {
	out := make([]Expr, len(keys))
	for i, k := range keys {
		out[i] = k.Expr
	}
	return out
}

// MapExpr rebuilds an expression bottom-up: f gets each part with its own parts
// already mapped. What f leaves alone keeps its identity; nil stays nil.
func MapExpr(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	m := mapper{f: func(e Expr) Expr { return MapExpr(e, f) }}
	return f(m.parts(e))
}

// mapper applies f to a set of expressions and remembers whether any changed.
type mapper struct {
	f       func(Expr) Expr
	changed bool
}

func (m *mapper) one(e Expr) Expr {
	if e == nil {
		return nil
	}
	out := m.f(e)
	m.changed = m.changed || out != e
	return out
}

func (m *mapper) list(in []Expr) []Expr {
	if in == nil {
		return nil
	}
	out := make([]Expr, len(in))
	for i, e := range in {
		out[i] = m.one(e)
	}
	return out
}

func (m *mapper) keys(in []SortKey) []SortKey {
	if in == nil {
		return nil
	}
	out := make([]SortKey, len(in))
	for i, k := range in {
		k.Expr = m.one(k.Expr)
		out[i] = k
	}
	return out
}

func (m *mapper) whens(in []When) []When {
	out := make([]When, len(in))
	for i, w := range in {
		out[i] = When{Cond: m.one(w.Cond), Then: m.one(w.Then)}
	}
	return out
}

// parts maps the direct parts of e; e itself is returned when none changed.
func (m *mapper) parts(e Expr) Expr {
	mapped := m.copyParts(e)
	if !m.changed {
		return e
	}
	return mapped
}

func (m *mapper) copyParts(e Expr) Expr {
	switch e := e.(type) {
	case *Cast:
		c := *e
		c.Arg = m.one(e.Arg)
		return &c
	case *Comparison:
		return &Comparison{Op: e.Op, Left: m.one(e.Left), Right: m.one(e.Right)}
	case *Conjunction:
		return &Conjunction{Or: e.Or, Args: m.list(e.Args)}
	case *Between:
		c := *e
		c.Arg, c.Low, c.High = m.one(e.Arg), m.one(e.Low), m.one(e.High)
		return &c
	case *Case:
		return &Case{Whens: m.whens(e.Whens), Else: m.one(e.Else), Result: e.Result}
	case *Operator:
		return &Operator{Kind: e.Kind, Args: m.list(e.Args), Result: e.Result}
	case *Call:
		c := *e
		c.Args = m.list(e.Args)
		return &c
	case *Lambda:
		return &Lambda{Params: e.Params, Body: m.one(e.Body)}
	case *AggCall:
		c := *e
		c.Args, c.Filter, c.OrderBy = m.list(e.Args), m.one(e.Filter), m.keys(e.OrderBy)
		return &c
	case *WindowCall:
		return m.window(e)
	}
	return e
}

func (m *mapper) window(e *WindowCall) Expr {
	c := *e
	c.Args, c.Filter = m.list(e.Args), m.one(e.Filter)
	c.Partition, c.OrderBy = m.list(e.Partition), m.keys(e.OrderBy)
	c.ArgOrders, c.FrameArgs = m.keys(e.ArgOrders), m.list(e.FrameArgs)
	return &c
}

// MapExprs applies f to each whole expression of a node (not to parts: combine
// with MapExpr) and returns a copy when any changed. Each expression counts the
// columns that node.go says: of a join condition, Left and Right count their
// own side; of a Scan, the table's columns.
func MapExprs(n Node, f func(Expr) Expr) Node {
	m := mapper{f: f}
	mapped := m.node(n)
	if !m.changed {
		return n
	}
	return mapped
}

// WalkExprs calls f with each whole expression of a node.
func WalkExprs(n Node, f func(Expr)) {
	MapExprs(n, func(e Expr) Expr {
		f(e)
		return e
	})
}

func (m *mapper) node(n Node) Node {
	switch n := n.(type) {
	case *Scan:
		return m.scan(n)
	case *Filter:
		c := *n
		c.Conjuncts = m.list(n.Conjuncts)
		return &c
	case *Project:
		c := *n
		c.Exprs = m.list(n.Exprs)
		return &c
	case *Aggregate:
		c := *n
		c.Keys, c.Aggregates = m.list(n.Keys), m.list(n.Aggregates)
		return &c
	case *Distinct:
		c := *n
		c.On, c.OrderBy = m.list(n.On), m.keys(n.OrderBy)
		return &c
	case *Join:
		return m.join(n)
	case *Sort:
		c := *n
		c.Keys = m.keys(n.Keys)
		return &c
	case *TopN:
		c := *n
		c.Keys = m.keys(n.Keys)
		return &c
	case *Window:
		c := *n
		c.Exprs = m.list(n.Exprs)
		return &c
	case *Unnest:
		c := *n
		c.Exprs = m.list(n.Exprs)
		return &c
	case *Values:
		return m.values(n)
	}
	return n
}

func (m *mapper) scan(n *Scan) Node {
	c := *n
	c.Filter, c.OrderBy = m.list(n.Filter), m.keys(n.OrderBy)
	if n.Joined != nil {
		j := Joined{Large: n.Joined.Large}
		for _, l := range n.Joined.Lookups {
			l.Keys = m.list(l.Keys)
			j.Lookups = append(j.Lookups, l)
		}
		c.Joined = &j
	}
	if n.Partial != nil {
		p := Partial{Keys: m.list(n.Partial.Keys), Reduce: n.Partial.Reduce}
		for _, a := range n.Partial.Aggregates {
			a.Arg, a.Filter = m.one(a.Arg), m.one(a.Filter)
			p.Aggregates = append(p.Aggregates, a)
		}
		c.Partial = &p
	}
	return &c
}

func (m *mapper) join(n *Join) Node {
	c := *n
	c.Conditions = make([]JoinCondition, len(n.Conditions))
	for i, j := range n.Conditions {
		j.Left, j.Right = m.one(j.Left), m.one(j.Right)
		c.Conditions[i] = j
	}
	if n.Delim != nil {
		d := *n.Delim
		d.Columns = m.list(n.Delim.Columns)
		c.Delim = &d
	}
	return &c
}

func (m *mapper) values(n *Values) Node {
	c := *n
	c.Rows = make([][]Expr, len(n.Rows))
	for i, r := range n.Rows {
		c.Rows[i] = m.list(r)
	}
	return &c
}
