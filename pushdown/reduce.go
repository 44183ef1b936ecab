package pushdown

// Reduction drops groups that nobody wants, where a stream knows groups whole.
// It asks for less work, never for another answer: whoever merges the groups
// applies the same conditions again, so a stream may leave the reduction undone,
// and has to when it cannot tell that it sends every group in one row.
type Reduction struct {
	// Apart names a group key: groups in which it is NULL are not whole, because
	// other streams may have them too. They are sent as they are, beside those
	// that the limit counts. Empty: every group is whole.
	Apart string
	// Filter is a canonical set of conjuncts over the output columns.
	Filter []Expr
	// OrderBy and Limit are a top-N over the output columns; a Limit alone keeps
	// any groups.
	OrderBy []SortKey
	Limit   int64
}

// Reducer is the reduction of s, which must have one, as a row scan over the
// output of s.
func (s *Spec) Reducer() Spec {
	out := Spec{Table: s.Table, Partitions: s.Partitions, Filter: s.Reduce.Filter, OrderBy: s.Reduce.OrderBy, Limit: s.Reduce.Limit}
	for _, f := range s.OutputSchema().Fields() {
		out.Columns = append(out.Columns, Column{Name: f.Name, DataType: f.Type})
	}
	return out
}

// Unreduced is s without its reduction: all groups, whole or not.
func (s *Spec) Unreduced() Spec {
	out := *s
	out.Reduce = nil
	return out
}

func (v *validator) reduction() error {
	s := v.spec
	if s.Reduce == nil {
		return nil
	}
	if len(s.GroupBy) == 0 {
		return v.fail("only groups can be reduced")
	}
	if len(s.Reduce.Filter) == 0 && s.Reduce.Limit == NoLimit {
		return v.fail("the reduction is empty")
	}
	apart := s.Reduce.Apart == ""
	for _, k := range s.GroupBy {
		apart = apart || k.Name == s.Reduce.Apart
	}
	if !apart {
		return v.fail("the reduction sets apart %q, which is no group key", s.Reduce.Apart)
	}
	reducer := s.Reducer()
	if err := reducer.Validate(s.OutputSchema()); err != nil {
		return v.fail("the reduction: %s", err)
	}
	return nil
}

func (p *printer) reduction(r *Reduction) {
	if r == nil {
		return
	}
	p.WriteString(" reduce")
	if r.Apart != "" {
		p.WriteString(" apart ")
		p.name(r.Apart)
	}
	if len(r.Filter) > 0 {
		p.list(" having ", " and ", "", r.Filter)
	}
	p.orderBy(r.OrderBy)
	p.limit(r.Limit)
}
