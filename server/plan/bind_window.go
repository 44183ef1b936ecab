package plan

import (
	"slices"
	"strings"
)

// windowFunctions are the functions that are not aggregates.
var windowFunctions = map[string]string{
	"WINDOW_ROW_NUMBER": "row_number", "WINDOW_RANK": "rank", "WINDOW_RANK_DENSE": "dense_rank",
	"WINDOW_PERCENT_RANK": "percent_rank", "WINDOW_CUME_DIST": "cume_dist", "WINDOW_NTILE": "ntile",
	"WINDOW_FIRST_VALUE": "first_value", "WINDOW_LAST_VALUE": "last_value", "WINDOW_NTH_VALUE": "nth_value",
	"WINDOW_LEAD": "lead", "WINDOW_LAG": "lag", "WINDOW_FILL": "fill",
}

func (s scope) window(e *jsonExpr) (Expr, error) {
	out := &WindowCall{Distinct: e.Distinct, IgnoreNulls: e.IgnoreNulls}
	steps := []func(*WindowCall, *jsonExpr) error{s.windowCall, s.windowOrder, s.windowFrame}
	for _, step := range steps {
		if err := step(out, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// windowCall reads name, arguments, filter and result type.
func (s scope) windowCall(out *WindowCall, e *jsonExpr) error {
	args, err := s.exprs(e.Children)
	if err != nil {
		return err
	}
	if out.Result, err = readType(e.ReturnType); err != nil {
		return err
	}
	if out.Filter, err = s.optional(e.Filters); err != nil {
		return err
	}
	if e.Type == "WINDOW_AGGREGATE" {
		call, err := aggregateCall(e, args, out.Result)
		if err == nil && call.descending {
			err = unsupported("a descending %s as a window function", e.Name)
		}
		out.Name, out.Args = call.name, call.args
		return err
	}
	name, ok := windowFunctions[e.Type]
	if !ok {
		return unsupported("the window function %s", e.Type)
	}
	out.Name = name
	for _, extra := range []*jsonExpr{e.OffsetExpr, e.DefaultExpr} {
		if extra == nil {
			continue
		}
		arg, err := s.expr(extra)
		if err != nil {
			return err
		}
		args = append(args, arg)
	}
	if e.OffsetExpr == nil && e.DefaultExpr != nil {
		return unsupported("%s with a default and no offset", name)
	}
	out.Args = args
	return nil
}

func (s scope) windowOrder(out *WindowCall, e *jsonExpr) (err error) {
	if out.Partition, err = s.exprs(e.Partitions); err != nil {
		return err
	}
	if out.OrderBy, err = s.keys(e.Orders); err != nil {
		return err
	}
	out.ArgOrders, err = s.keys(e.ArgOrders)
	return err
}

// excludes are the EXCLUDE clauses of a frame.
var excludes = map[string]string{
	"NO_OTHER": "", "CURRENT_ROW": " EXCLUDE CURRENT ROW", "GROUP": " EXCLUDE GROUP", "TIES": " EXCLUDE TIES",
}

func (s scope) windowFrame(out *WindowCall, e *jsonExpr) error {
	exclude, ok := excludes[e.Exclude]
	if !ok {
		return unsupported("the frame's EXCLUDE %s", e.Exclude)
	}
	out.Exclude = exclude
	start, err := s.frameBound(out, e.Start, e.StartExpr)
	if err != nil {
		return err
	}
	end, err := s.frameBound(out, e.End, e.EndExpr)
	if err != nil {
		return err
	}
	mode, err := frameMode(e.Start, e.End)
	out.Frame = mode + " BETWEEN " + start + " AND " + end
	return err
}

// frameMode is the mode that the bounds agree on.
func frameMode(start, end string) (string, error) {
	mode := ""
	for _, bound := range []string{start, end} {
		m := boundMode(bound)
		if m == "" {
			continue
		}
		if mode != "" && m != mode {
			return "", unsupported("a frame from %s to %s", start, end)
		}
		mode = m
	}
	if mode == "" {
		return "RANGE", nil
	}
	return mode, nil
}

func boundMode(bound string) string {
	for _, mode := range []string{"ROWS", "RANGE", "GROUPS"} {
		if strings.HasSuffix(bound, "_"+mode) {
			return mode
		}
	}
	return ""
}

// frameBound returns the text of a bound and appends its expression.
func (s scope) frameBound(out *WindowCall, bound string, e *jsonExpr) (string, error) {
	switch {
	case strings.HasPrefix(bound, "UNBOUNDED_"):
		return strings.ReplaceAll(bound, "_", " "), nil
	case strings.HasPrefix(bound, "CURRENT_ROW_"):
		return "CURRENT ROW", nil
	case strings.HasPrefix(bound, "EXPR_"):
		words := strings.Split(bound, "_")
		if len(words) != 3 || !slices.Contains([]string{"PRECEDING", "FOLLOWING"}, words[1]) {
			break
		}
		arg, err := s.expr(e)
		if err == nil && words[2] == "RANGE" {
			arg, err = rangeOffset(out, arg, words[1] == "PRECEDING")
		}
		out.FrameArgs = append(out.FrameArgs, arg)
		return "%s " + words[1], err
	}
	return "", unsupported("the frame bound %s", bound)
}

// rangeOffset undoes what binding does to the offset of a RANGE bound: it makes
// it the limiting value, the order key plus or minus the offset, and casts key
// and bounds to one type.
func rangeOffset(out *WindowCall, bound Expr, preceding bool) (Expr, error) {
	if c, ok := uncast(bound).(*Call); ok && len(out.OrderBy) == 1 && len(c.Args) == 2 {
		key := out.OrderBy[0]
		op := "+"
		if preceding != key.Descending {
			op = "-"
		}
		if c.Name == op && ExprString(uncast(c.Args[0])) == ExprString(uncast(key.Expr)) {
			return c.Args[1], nil
		}
	}
	return nil, unsupported("a RANGE frame bound of this form")
}

func uncast(e Expr) Expr {
	if c, ok := e.(*Cast); ok && !c.Try {
		return c.Arg
	}
	return e
}
