package eval

import "github.com/tributary-db/tributary/pushdown"

// compareNode compares two vectors of the same storage.
type compareNode[T any] struct {
	op          pushdown.CompareOp
	left, right node
	order       ordering[T]
	valid       []uint64
	out         truth
}

func (c *compareNode[T]) eval(f *frame) (vec, error) {
	l, err := evalCol[T](c.left, f)
	if err != nil {
		return nil, err
	}
	r, err := evalCol[T](c.right, f)
	if err != nil {
		return nil, err
	}
	c.out.resize(f.n)
	op, l, r := orient(c.op, l, r)
	negated := c.order.run(c.out.yes, op, l, r)
	if op == pushdown.Distinct || op == pushdown.NotDistinct {
		distinct(&c.out, l.valid, r.valid, negated)
		return &c.out, nil
	}
	valid := andValid(c.valid, l.valid, r.valid)
	if l.valid != nil && r.valid != nil {
		c.valid = valid
	}
	c.out.settle(valid, negated)
	return &c.out, nil
}

// orient puts a constant on the right.
func orient[T any](op pushdown.CompareOp, l, r *col[T]) (pushdown.CompareOp, *col[T], *col[T]) {
	if !l.konst || r.konst {
		return op, l, r
	}
	return op.Mirror(), r, l
}

// run marks in dst the rows for which op holds, or does not when it returns
// true. NULLs are ignored.
func (o *ordering[T]) run(dst []uint64, op pushdown.CompareOp, l, r *col[T]) (negated bool) {
	if r.konst {
		return o.runLit(dst, op, l.vals, r.vals[0])
	}
	switch op {
	case pushdown.Less:
		o.lt(dst, l.vals, r.vals)
	case pushdown.GreaterEqual:
		o.lt(dst, l.vals, r.vals)
		return true
	case pushdown.Greater:
		o.lt(dst, r.vals, l.vals)
	case pushdown.LessEqual:
		o.lt(dst, r.vals, l.vals)
		return true
	default:
		o.eq(dst, l.vals, r.vals)
		return op == pushdown.NotEqual || op == pushdown.Distinct
	}
	return false
}

func (o *ordering[T]) runLit(dst []uint64, op pushdown.CompareOp, v []T, lit T) (negated bool) {
	switch op {
	case pushdown.Less:
		o.ltLit(dst, v, lit)
	case pushdown.GreaterEqual:
		o.ltLit(dst, v, lit)
		return true
	case pushdown.LessEqual:
		o.leLit(dst, v, lit)
	case pushdown.Greater:
		o.leLit(dst, v, lit)
		return true
	default:
		o.eqLit(dst, v, lit)
		return op == pushdown.NotEqual || op == pushdown.Distinct
	}
	return false
}

// distinct settles IS [NOT] DISTINCT FROM: out.yes has the rows with equal
// values, and the result is whether the rows are distinct when negated, the
// same otherwise.
func distinct(out *truth, l, r []uint64, negated bool) {
	for i, equal := range out.yes {
		lv, rv := ^uint64(0), ^uint64(0)
		if l != nil {
			lv = l[i]
		}
		if r != nil {
			rv = r[i]
		}
		same := equal&lv&rv | ^(lv | rv)
		if negated {
			same = ^same
		}
		out.yes[i], out.no[i] = same, ^same
	}
}

// boolCompare compares booleans, false being less than true.
type boolCompare struct {
	op          pushdown.CompareOp
	left, right node
	valid       []uint64
	out         truth
}

func (c *boolCompare) eval(f *frame) (vec, error) {
	l, err := evalTruth(c.left, f)
	if err != nil {
		return nil, err
	}
	r, err := evalTruth(c.right, f)
	if err != nil {
		return nil, err
	}
	c.out.resize(f.n)
	for i := range c.out.yes {
		c.out.yes[i] = compareWords(c.op, l.yes[i], r.yes[i])
	}
	lv, rv := l.validity(), r.validity()
	if c.op == pushdown.Distinct || c.op == pushdown.NotDistinct {
		distinct(&c.out, lv, rv, c.op == pushdown.Distinct)
		return &c.out, nil
	}
	c.valid = andValid(c.valid, lv, rv)
	c.out.settle(c.valid, false)
	return &c.out, nil
}

// compareWords compares bit by bit; both IS DISTINCT forms get equality.
func compareWords(op pushdown.CompareOp, l, r uint64) uint64 {
	switch op {
	case pushdown.NotEqual:
		return l ^ r
	case pushdown.Less:
		return ^l & r
	case pushdown.LessEqual:
		return ^l | r
	case pushdown.Greater:
		return l &^ r
	case pushdown.GreaterEqual:
		return l | ^r
	}
	return ^(l ^ r)
}
