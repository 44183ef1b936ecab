package codec

import (
	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// exprFromProto decodes an expression; a missing one is an error.
func exprFromProto(p *pb.Expr) (pushdown.Expr, error) { return exprDecoder(0).expr(p) }

// exprDecoder is the depth of the expression being decoded.
type exprDecoder int

func (d exprDecoder) expr(p *pb.Expr) (pushdown.Expr, error) {
	if d > maxExprDepth {
		return nil, status.New(status.InvalidArgument, "an expression is nested deeper than %d levels", maxExprDepth)
	}
	d++
	switch e := p.GetExpr().(type) {
	case *pb.Expr_Column:
		return asExpr(columnFromProto(e.Column))
	case *pb.Expr_Literal:
		return asExpr(decodeLiteral(e.Literal))
	case *pb.Expr_Compare:
		return asExpr(d.compare(e.Compare))
	case *pb.Expr_And:
		args, err := convert(e.And.GetArgs(), d.expr)
		return pushdown.And{Args: args}, err
	case *pb.Expr_Or:
		args, err := convert(e.Or.GetArgs(), d.expr)
		return pushdown.Or{Args: args}, err
	case *pb.Expr_Not:
		arg, err := d.expr(e.Not)
		return pushdown.Not{Arg: arg}, err
	case *pb.Expr_IsNull:
		arg, err := d.expr(e.IsNull.GetArg())
		return pushdown.IsNull{Arg: arg, Negated: e.IsNull.GetNegated()}, err
	}
	return d.other(p)
}

// other decodes the members that are not logic or leaves.
func (d exprDecoder) other(p *pb.Expr) (pushdown.Expr, error) {
	switch e := p.GetExpr().(type) {
	case *pb.Expr_In:
		return asExpr(d.in(e.In))
	case *pb.Expr_Like:
		return asExpr(d.like(e.Like))
	case *pb.Expr_Arith:
		return asExpr(d.arith(e.Arith))
	case *pb.Expr_Cast:
		return asExpr(d.cast(e.Cast))
	case *pb.Expr_Case:
		return asExpr(d.caseOf(e.Case))
	case *pb.Expr_Coalesce:
		return asExpr(d.coalesce(e.Coalesce))
	case *pb.Expr_Call:
		return asExpr(d.call(e.Call))
	}
	return nil, status.New(status.InvalidArgument, "an expression is missing or of a kind unknown to this version")
}

// asExpr drops the value of a failed conversion.
func asExpr[E pushdown.Expr](e E, err error) (pushdown.Expr, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

func columnFromProto(p *pb.Column) (pushdown.Column, error) {
	dt, err := typeFromProto(p.GetType())
	if err != nil {
		return pushdown.Column{}, status.Wrap(status.InvalidArgument, err, "column %q", p.GetName())
	}
	return pushdown.Column{Name: p.GetName(), DataType: dt}, nil
}

func decodeLiteral(p *pb.Literal) (pushdown.Literal, error) {
	v, err := literalFromProto(p)
	return pushdown.Literal{Value: v}, err
}

func (d exprDecoder) compare(p *pb.Compare) (e pushdown.Compare, err error) {
	if e.Op, err = member[pushdown.CompareOp]("comparison", p.GetOp(), pb.Compare_OP_NOT_DISTINCT); err != nil {
		return e, err
	}
	if e.Left, err = d.expr(p.GetLeft()); err != nil {
		return e, err
	}
	e.Right, err = d.expr(p.GetRight())
	return e, err
}

func (d exprDecoder) in(p *pb.In) (e pushdown.In, err error) {
	e.Negated = p.GetNegated()
	if e.Arg, err = d.expr(p.GetArg()); err != nil {
		return e, err
	}
	e.Values, err = decodeValues(p.GetValues())
	return e, err
}

func (d exprDecoder) like(p *pb.Like) (e pushdown.Like, err error) {
	e.Pattern, e.Negated = string(p.GetPattern()), p.GetNegated()
	if e.Kind, err = member[pushdown.LikeKind]("string match", p.GetKind(), pb.Like_KIND_CONTAINS); err != nil {
		return e, err
	}
	e.Arg, err = d.expr(p.GetArg())
	return e, err
}

func (d exprDecoder) arith(p *pb.Arith) (e pushdown.Arith, err error) {
	if e.Op, err = member[pushdown.ArithOp]("arithmetic operator", p.GetOp(), pb.Arith_OP_MULTIPLY); err != nil {
		return e, err
	}
	if e.DataType, err = typeFromProto(p.GetType()); err != nil {
		return e, err
	}
	if e.Left, err = d.expr(p.GetLeft()); err != nil {
		return e, err
	}
	e.Right, err = d.expr(p.GetRight())
	return e, err
}

func (d exprDecoder) cast(p *pb.Cast) (e pushdown.Cast, err error) {
	if e.DataType, err = typeFromProto(p.GetType()); err != nil {
		return e, err
	}
	e.Arg, err = d.expr(p.GetArg())
	return e, err
}

func (d exprDecoder) caseOf(p *pb.Case) (e pushdown.Case, err error) {
	if e.DataType, err = typeFromProto(p.GetType()); err != nil {
		return e, err
	}
	if e.Whens, err = convert(p.GetWhens(), d.when); err != nil {
		return e, err
	}
	e.Else, err = d.optional(p.GetElse())
	return e, err
}

func (d exprDecoder) when(p *pb.Case_When) (w pushdown.When, err error) {
	if w.Cond, err = d.expr(p.GetCond()); err != nil {
		return w, err
	}
	w.Then, err = d.expr(p.GetThen())
	return w, err
}

func (d exprDecoder) coalesce(p *pb.Coalesce) (e pushdown.Coalesce, err error) {
	if e.DataType, err = typeFromProto(p.GetType()); err != nil {
		return e, err
	}
	e.Args, err = convert(p.GetArgs(), d.expr)
	return e, err
}

func (d exprDecoder) call(p *pb.Call) (e pushdown.Call, err error) {
	if e.Func, err = member[pushdown.Func]("function", p.GetFunc(), pb.Call_FUNC_ABS); err != nil {
		return e, err
	}
	if e.DataType, err = typeFromProto(p.GetType()); err != nil {
		return e, err
	}
	e.Args, err = convert(p.GetArgs(), d.expr)
	return e, err
}

// optional decodes an expression that may be absent.
func (d exprDecoder) optional(p *pb.Expr) (pushdown.Expr, error) {
	if p == nil {
		return nil, nil
	}
	return d.expr(p)
}

// member converts an enum value; the members are 1 to last.
func member[T ~uint8, P ~int32](what string, v, last P) (T, error) {
	if v < 1 || v > last {
		return 0, status.New(status.InvalidArgument, "%s %d is unknown to this version", what, v)
	}
	return T(v), nil
}
