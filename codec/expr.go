package codec

import (
	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// maxExprDepth bounds the nesting of a decoded expression; Spec.Validate is
// stricter.
const maxExprDepth = 256

// exprToProto encodes an expression; nil is an error.
func exprToProto(e pushdown.Expr) (*pb.Expr, error) {
	switch e := e.(type) {
	case pushdown.Column:
		col, err := columnToProto(e)
		return &pb.Expr{Expr: &pb.Expr_Column{Column: col}}, err
	case pushdown.Literal:
		lit, err := literalToProto(e.Value)
		return &pb.Expr{Expr: &pb.Expr_Literal{Literal: lit}}, err
	case pushdown.Compare:
		return compareToProto(e)
	case pushdown.And:
		args, err := exprsToProto(e.Args)
		return &pb.Expr{Expr: &pb.Expr_And{And: &pb.ExprList{Args: args}}}, err
	case pushdown.Or:
		args, err := exprsToProto(e.Args)
		return &pb.Expr{Expr: &pb.Expr_Or{Or: &pb.ExprList{Args: args}}}, err
	case pushdown.Not:
		arg, err := exprToProto(e.Arg)
		return &pb.Expr{Expr: &pb.Expr_Not{Not: arg}}, err
	case pushdown.IsNull:
		arg, err := exprToProto(e.Arg)
		return &pb.Expr{Expr: &pb.Expr_IsNull{IsNull: &pb.IsNull{Arg: arg, Negated: e.Negated}}}, err
	}
	return otherToProto(e)
}

// otherToProto encodes the members that are not logic or leaves.
func otherToProto(e pushdown.Expr) (*pb.Expr, error) {
	switch e := e.(type) {
	case pushdown.In:
		return inToProto(e)
	case pushdown.Like:
		arg, err := exprToProto(e.Arg)
		like := &pb.Like{Arg: arg, Kind: pb.Like_Kind(e.Kind), Pattern: []byte(e.Pattern), Negated: e.Negated}
		return &pb.Expr{Expr: &pb.Expr_Like{Like: like}}, err
	case pushdown.Arith:
		return arithToProto(e)
	case pushdown.Cast:
		return castToProto(e)
	case pushdown.Case:
		return caseToProto(e)
	case pushdown.Coalesce:
		return coalesceToProto(e)
	case pushdown.Call:
		return callToProto(e)
	}
	return nil, status.New(status.InvalidArgument, "an expression is missing or of unknown kind %T", e)
}

func exprsToProto(exprs []pushdown.Expr) ([]*pb.Expr, error) {
	return convert(exprs, exprToProto)
}

func columnToProto(c pushdown.Column) (*pb.Column, error) {
	dt, err := typeToProto(c.DataType)
	return &pb.Column{Name: c.Name, Type: dt}, status.Wrap(status.InvalidArgument, err, "column %q", c.Name)
}

func compareToProto(e pushdown.Compare) (*pb.Expr, error) {
	sides, err := exprsToProto([]pushdown.Expr{e.Left, e.Right})
	if err != nil {
		return nil, err
	}
	cmp := &pb.Compare{Op: pb.Compare_Op(e.Op), Left: sides[0], Right: sides[1]}
	return &pb.Expr{Expr: &pb.Expr_Compare{Compare: cmp}}, nil
}

func inToProto(e pushdown.In) (*pb.Expr, error) {
	arg, err := exprToProto(e.Arg)
	if err != nil {
		return nil, err
	}
	values, err := encodeValues(e.Values)
	return &pb.Expr{Expr: &pb.Expr_In{In: &pb.In{Arg: arg, Values: values, Negated: e.Negated}}}, err
}

func arithToProto(e pushdown.Arith) (*pb.Expr, error) {
	sides, err := exprsToProto([]pushdown.Expr{e.Left, e.Right})
	if err != nil {
		return nil, err
	}
	dt, err := typeToProto(e.DataType)
	arith := &pb.Arith{Op: pb.Arith_Op(e.Op), Left: sides[0], Right: sides[1], Type: dt}
	return &pb.Expr{Expr: &pb.Expr_Arith{Arith: arith}}, err
}

func castToProto(e pushdown.Cast) (*pb.Expr, error) {
	arg, err := exprToProto(e.Arg)
	if err != nil {
		return nil, err
	}
	dt, err := typeToProto(e.DataType)
	return &pb.Expr{Expr: &pb.Expr_Cast{Cast: &pb.Cast{Arg: arg, Type: dt}}}, err
}

func caseToProto(e pushdown.Case) (*pb.Expr, error) {
	dt, err := typeToProto(e.DataType)
	if err != nil {
		return nil, err
	}
	whens, err := convert(e.Whens, whenToProto)
	if err != nil {
		return nil, err
	}
	otherwise, err := optionalToProto(e.Else)
	return &pb.Expr{Expr: &pb.Expr_Case{Case: &pb.Case{Whens: whens, Else: otherwise, Type: dt}}}, err
}

func whenToProto(w pushdown.When) (*pb.Case_When, error) {
	pair, err := exprsToProto([]pushdown.Expr{w.Cond, w.Then})
	if err != nil {
		return nil, err
	}
	return &pb.Case_When{Cond: pair[0], Then: pair[1]}, nil
}

func coalesceToProto(e pushdown.Coalesce) (*pb.Expr, error) {
	args, err := exprsToProto(e.Args)
	if err != nil {
		return nil, err
	}
	dt, err := typeToProto(e.DataType)
	return &pb.Expr{Expr: &pb.Expr_Coalesce{Coalesce: &pb.Coalesce{Args: args, Type: dt}}}, err
}

func callToProto(e pushdown.Call) (*pb.Expr, error) {
	args, err := exprsToProto(e.Args)
	if err != nil {
		return nil, err
	}
	dt, err := typeToProto(e.DataType)
	return &pb.Expr{Expr: &pb.Expr_Call{Call: &pb.Call{Func: pb.Call_Func(e.Func), Args: args, Type: dt}}}, err
}

// optionalToProto encodes an expression that may be absent.
func optionalToProto(e pushdown.Expr) (*pb.Expr, error) {
	if e == nil {
		return nil, nil
	}
	return exprToProto(e)
}

// convert maps f over in; no elements give nil.
func convert[S, T any](in []S, f func(S) (T, error)) ([]T, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := make([]T, 0, len(in))
	for _, v := range in {
		t, err := f(v)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}
