package pushdown

import (
	"cmp"
	"slices"
)

// Canonical returns s with its filter as a canonical set: nested conjunctions
// are flattened, the conjuncts are sorted and each appears once; so does the
// filter of its reduction. Nothing else
// changes; s is not modified.
func (s *Spec) Canonical() Spec {
	out := *s
	out.Filter = exprsOf(canonicalFilter(s.Filter))
	if s.Reduce != nil {
		out.Reduce = s.Reduce.canonical()
	}
	return out
}

func (r *Reduction) canonical() *Reduction {
	out := *r
	out.Filter = exprsOf(canonicalFilter(r.Filter))
	return &out
}

// keyed is an expression with its exact text.
type keyed struct {
	text string
	expr Expr
}

func exprsOf(set []keyed) []Expr {
	var out []Expr
	for _, k := range set {
		out = append(out, k.expr)
	}
	return out
}

func canonicalFilter(filter []Expr) []keyed {
	var set []keyed
	for _, e := range flatten(nil, filter) {
		set = append(set, keyed{exactText(e), e})
	}
	slices.SortFunc(set, func(a, b keyed) int { return cmp.Compare(a.text, b.text) })
	return slices.CompactFunc(set, func(a, b keyed) bool { return a.text == b.text })
}

func flatten(out, conjuncts []Expr) []Expr {
	for _, e := range conjuncts {
		if a, ok := e.(And); ok {
			out = flatten(out, a.Args)
			continue
		}
		out = append(out, e)
	}
	return out
}

// InputColumns returns the columns that s reads from the table, by name.
func (s *Spec) InputColumns() []Column {
	var cols []Column
	collect := func(e Expr) bool {
		if c, ok := e.(Column); ok {
			cols = append(cols, c)
		}
		return true
	}
	s.expressions(func(e Expr) { Walk(e, collect) })
	if len(s.Lookups) > 0 {
		found := s.found()
		cols = slices.DeleteFunc(cols, func(c Column) bool { return found[c.Name] })
	}
	slices.SortFunc(cols, func(a, b Column) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(cols, func(a, b Column) bool { return a.Name == b.Name })
}

// ReadColumns are the columns that a source may have to yield for s: those that
// it reads, or else its carrier.
func (s *Spec) ReadColumns() []Column {
	if cols := s.InputColumns(); len(cols) > 0 {
		return cols
	}
	return s.Columns
}

// expressions calls f for every expression at the top of a part of s. The
// carrier column of a partial aggregate is not read and not among them.
func (s *Spec) expressions(f func(Expr)) {
	if !s.Grouped() {
		for _, c := range s.Columns {
			f(c)
		}
	}
	for _, e := range s.Filter {
		f(e)
	}
	for _, l := range s.Lookups {
		for _, k := range l.Keys {
			f(k)
		}
	}
	for _, k := range s.GroupBy {
		f(k.Expr)
	}
	for _, a := range s.Aggregates {
		f(a.Arg)
		f(a.Filter)
	}
	for _, k := range s.OrderBy {
		f(k.Column)
	}
}
