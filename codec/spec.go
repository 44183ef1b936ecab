package codec

import (
	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// SpecToProto encodes a specification.
func SpecToProto(s pushdown.Spec) (*pb.Spec, error) {
	p := &pb.Spec{Table: s.Table, Partitions: s.Partitions}
	if s.Limit != pushdown.NoLimit {
		p.Limit = &s.Limit
	}
	var err error
	if p.Columns, err = convert(s.Columns, columnToProto); err != nil {
		return nil, err
	}
	if p.Filter, err = exprsToProto(s.Filter); err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "filter")
	}
	if p.GroupBy, err = convert(s.GroupBy, namedToProto); err != nil {
		return nil, err
	}
	if p.Aggregates, err = convert(s.Aggregates, aggregateToProto); err != nil {
		return nil, err
	}
	if p.OrderBy, err = convert(s.OrderBy, sortKeyToProto); err != nil {
		return nil, err
	}
	if p.Lookups, err = convert(s.Lookups, lookupToProto); err != nil {
		return nil, err
	}
	p.Reduce, err = reductionToProto(s.Reduce)
	return p, err
}

func reductionToProto(r *pushdown.Reduction) (*pb.Reduction, error) {
	if r == nil {
		return nil, nil
	}
	p := &pb.Reduction{Apart: r.Apart}
	if r.Limit != pushdown.NoLimit {
		p.Limit = &r.Limit
	}
	var err error
	if p.Filter, err = exprsToProto(r.Filter); err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "filter of groups")
	}
	p.OrderBy, err = convert(r.OrderBy, sortKeyToProto)
	return p, err
}

func namedToProto(n pushdown.NamedExpr) (*pb.NamedExpr, error) {
	e, err := exprToProto(n.Expr)
	return &pb.NamedExpr{Name: n.Name, Expr: e}, status.Wrap(status.InvalidArgument, err, "group key %q", n.Name)
}

func aggregateToProto(a pushdown.Aggregate) (*pb.Aggregate, error) {
	p := &pb.Aggregate{Name: a.Name, Func: pb.Aggregate_Func(a.Func)}
	var err error
	if p.Arg, err = optionalToProto(a.Arg); err == nil {
		p.Filter, err = optionalToProto(a.Filter)
	}
	return p, status.Wrap(status.InvalidArgument, err, "aggregate %q", a.Name)
}

func sortKeyToProto(k pushdown.SortKey) (*pb.SortKey, error) {
	col, err := columnToProto(k.Column)
	return &pb.SortKey{Column: col, Descending: k.Descending, NullsFirst: k.NullsFirst}, err
}

// SpecFromProto decodes a specification. Members that this version does not
// know are typed errors. The result is well formed but not validated against a
// table: see pushdown.Spec.Validate.
func SpecFromProto(p *pb.Spec) (pushdown.Spec, error) {
	if p == nil {
		return pushdown.Spec{}, status.New(status.InvalidArgument, "the scan has no specification")
	}
	s := pushdown.Spec{Table: p.Table, Partitions: p.Partitions, Limit: pushdown.NoLimit}
	if p.Limit != nil {
		s.Limit = *p.Limit
	}
	err := decodeParts(&s, p)
	return s, err
}

func decodeParts(s *pushdown.Spec, p *pb.Spec) (err error) {
	if s.Columns, err = convert(p.Columns, columnFromProto); err != nil {
		return err
	}
	if s.Filter, err = convert(p.Filter, exprFromProto); err != nil {
		return status.Wrap(status.InvalidArgument, err, "filter")
	}
	if s.GroupBy, err = convert(p.GroupBy, namedFromProto); err != nil {
		return err
	}
	if s.Aggregates, err = convert(p.Aggregates, aggregateFromProto); err != nil {
		return err
	}
	if s.OrderBy, err = convert(p.OrderBy, sortKeyFromProto); err != nil {
		return err
	}
	if s.Lookups, err = convert(p.Lookups, lookupFromProto); err != nil {
		return err
	}
	s.Reduce, err = reductionFromProto(p.Reduce)
	return err
}

func reductionFromProto(p *pb.Reduction) (*pushdown.Reduction, error) {
	if p == nil {
		return nil, nil
	}
	r := &pushdown.Reduction{Apart: p.GetApart(), Limit: pushdown.NoLimit}
	if p.Limit != nil {
		r.Limit = *p.Limit
	}
	var err error
	if r.Filter, err = convert(p.Filter, exprFromProto); err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "filter of groups")
	}
	r.OrderBy, err = convert(p.OrderBy, sortKeyFromProto)
	return r, err
}

func namedFromProto(p *pb.NamedExpr) (pushdown.NamedExpr, error) {
	e, err := exprFromProto(p.GetExpr())
	return pushdown.NamedExpr{Name: p.GetName(), Expr: e}, status.Wrap(status.InvalidArgument, err, "group key %q", p.GetName())
}

func aggregateFromProto(p *pb.Aggregate) (a pushdown.Aggregate, err error) {
	a.Name = p.GetName()
	a.Func, err = member[pushdown.AggFunc]("aggregate function", p.GetFunc(), pb.Aggregate_FUNC_MAX)
	if err == nil {
		a.Arg, err = exprDecoder(0).optional(p.GetArg())
	}
	if err == nil {
		a.Filter, err = exprDecoder(0).optional(p.GetFilter())
	}
	return a, status.Wrap(status.InvalidArgument, err, "aggregate %q", a.Name)
}

func sortKeyFromProto(p *pb.SortKey) (pushdown.SortKey, error) {
	col, err := columnFromProto(p.GetColumn())
	return pushdown.SortKey{Column: col, Descending: p.GetDescending(), NullsFirst: p.GetNullsFirst()}, err
}
