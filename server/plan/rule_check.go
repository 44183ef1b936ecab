package plan

import "github.com/tributary-db/tributary/pushdown/status"

var _ Rule = planCheck{}

// planCheck changes nothing: it finds mistakes of the other rules before they
// become wrong answers.
type planCheck struct{}

// Name is "check".
func (planCheck) Name() string { return "check" }

// Apply fails when a reference points outside its input, or a scan asks for
// what no scanner may be asked for.
func (planCheck) Apply(root Node) (Node, bool, error) {
	var err error
	Walk(root, func(n Node) bool {
		if err == nil {
			err = checkNode(n)
		}
		return err == nil
	})
	return root, false, err
}

func checkNode(n Node) error {
	switch n := n.(type) {
	case *Scan:
		_, err := specOf(n)
		return status.Wrap(status.Internal, err, "the scan of %s", n.Table.ID())
	case *Join:
		return checkJoin(n)
	case *Filter:
		if err := checkPositions(n, n.Projection, len(n.Input.Columns())); err != nil {
			return err
		}
	case *SetOp:
		return checkSetOp(n)
	}
	if len(n.Inputs()) != 1 {
		return nil
	}
	in := n.Inputs()[0].Columns()
	var err error
	WalkExprs(n, func(e Expr) {
		if err == nil {
			err = checkRefs(n, e, in)
		}
	})
	return err
}

func checkRefs(n Node, e Expr, in []Type) error {
	var err error
	WalkExpr(e, func(e Expr) bool {
		r, ok := e.(*Ref)
		if ok && err == nil && (r.Index < 0 || r.Index >= len(in) || in[r.Index] != r.RefType) {
			err = status.New(status.Internal, "%s reads column %d as %s of an input with %v", Line(n), r.Index, r.RefType, in)
		}
		return err == nil
	})
	return err
}

func checkPositions(n Node, projection []int, width int) error {
	for _, p := range projection {
		if p < 0 || p >= width {
			return status.New(status.Internal, "%s selects column %d of %d", Line(n), p, width)
		}
	}
	return nil
}

func checkJoin(n *Join) error {
	left, right := n.Left.Columns(), n.Right.Columns()
	both := append(left[:len(left):len(left)], right...)
	for _, c := range n.Conditions {
		var err error
		if c.Op == "" {
			err = checkRefs(n, c.Left, both)
		} else if err = checkRefs(n, c.Left, left); err == nil {
			err = checkRefs(n, c.Right, right)
		}
		if err != nil {
			return err
		}
	}
	if err := checkPositions(n, n.LeftProjection, len(left)); err != nil {
		return err
	}
	return checkPositions(n, n.RightProjection, len(right))
}

func checkSetOp(n *SetOp) error {
	for _, in := range n.InputNodes {
		if len(in.Columns()) != len(n.OutputTypes) {
			return status.New(status.Internal, "%s has an input with %d columns instead of %d", Line(n), len(in.Columns()), len(n.OutputTypes))
		}
	}
	return nil
}
