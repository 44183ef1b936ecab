package eval

import "math/bits"

// branch is one arm of a CASE, or one argument of a COALESCE.
type branch struct {
	// cond picks the rows; nil for ELSE and in COALESCE.
	cond, then node
	// condSafe and thenSafe: cannot fail, so they may run on all rows.
	condSafe, thenSafe bool
}

// router decides which rows each branch takes.
type router struct {
	todo, mask []uint64
	part       truth
	sub        subset
}

func (r *router) start(n int) {
	r.todo = resize(r.todo, wordsFor(n))
	r.mask = resize(r.mask, wordsFor(n))
	fill(r.todo, n)
}

// pick sets mask to the open rows for which cond is true; nil picks all.
func (r *router) pick(f *frame, b *branch) error {
	copy(r.mask, r.todo)
	if b.cond == nil {
		return nil
	}
	yes, err := r.holds(f, b)
	if err != nil {
		return err
	}
	for i := range r.mask {
		r.mask[i] &= yes[i]
	}
	return nil
}

// holds returns where b's condition is true; one that can fail is evaluated on
// the open rows only.
func (r *router) holds(f *frame, b *branch) ([]uint64, error) {
	if b.condSafe {
		t, err := evalTruth(b.cond, f)
		return t.yes, err
	}
	err := r.sub.truth(b.cond, f, r.todo, &r.part)
	return r.part.yes, err
}

// close ends the search for the rows of mask. In a COALESCE, rows that turned
// out to be NULL stay open.
func (r *router) close(valid []uint64, coalesce bool) {
	for i := range r.mask {
		if coalesce && valid != nil {
			r.mask[i] &= valid[i]
		}
		r.todo[i] &^= r.mask[i]
	}
}

// chooseNode is CASE or COALESCE over one storage.
type chooseNode[T any] struct {
	branches []branch
	coalesce bool
	route    router
	sub      subset
	spread   []uint64
	valid    []uint64
	out      col[T]
}

func (c *chooseNode[T]) eval(f *frame) (vec, error) {
	c.out.vals = resize(c.out.vals, f.n)
	clear(c.out.vals)
	c.valid = resize(c.valid, wordsFor(f.n))
	clear(c.valid)
	c.out.valid = c.valid
	c.route.start(f.n)
	for i := range c.branches {
		b := &c.branches[i]
		if err := c.route.pick(f, b); err != nil {
			return nil, err
		}
		if isZero(c.route.mask) {
			continue
		}
		if err := c.take(f, b); err != nil {
			return nil, err
		}
	}
	return &c.out, nil
}

func (c *chooseNode[T]) take(f *frame, b *branch) error {
	if !b.thenSafe {
		return c.takeSparse(f, b)
	}
	v, err := evalCol[T](b.then, f)
	if err != nil {
		return err
	}
	c.route.close(v.valid, c.coalesce)
	blend(c.out.vals, v.vals, c.route.mask)
	for i, m := range c.route.mask {
		if v.valid != nil {
			m &= v.valid[i]
		}
		c.valid[i] |= m
	}
	return nil
}

// takeSparse evaluates the branch on the rows that take it alone.
func (c *chooseNode[T]) takeSparse(f *frame, b *branch) error {
	v, err := evalCol[T](b.then, c.sub.of(f, c.route.mask))
	if err != nil {
		return err
	}
	c.spread = resize(c.spread, len(c.valid))
	clear(c.spread)
	for i, r := range c.sub.rows {
		c.out.vals[r] = v.vals[i]
		if v.valid == nil || bit(v.valid, i) {
			setBit(c.spread, int(r))
		}
	}
	c.route.close(c.spread, c.coalesce)
	for i, m := range c.spread {
		c.valid[i] |= m
	}
	return nil
}

// blend copies the rows of mask.
func blend[T any](dst, src []T, mask []uint64) {
	for k, w := range mask {
		base := k << 6
		if w == ^uint64(0) {
			copy(dst[base:base+64], src[base:base+64])
			continue
		}
		for ; w != 0; w &= w - 1 {
			i := base + bits.TrailingZeros64(w)
			dst[i] = src[i]
		}
	}
}

// chooseBool is CASE or COALESCE over booleans.
type chooseBool struct {
	branches []branch
	coalesce bool
	route    router
	sub      subset
	part     truth
	out      truth
}

func (c *chooseBool) eval(f *frame) (vec, error) {
	c.out.resize(f.n)
	clear(c.out.yes)
	clear(c.out.no)
	c.route.start(f.n)
	for i := range c.branches {
		b := &c.branches[i]
		if err := c.route.pick(f, b); err != nil {
			return nil, err
		}
		if isZero(c.route.mask) {
			continue
		}
		if err := c.take(f, b); err != nil {
			return nil, err
		}
	}
	return &c.out, nil
}

func (c *chooseBool) take(f *frame, b *branch) error {
	v := &c.part
	if b.thenSafe {
		t, err := evalTruth(b.then, f)
		if err != nil {
			return err
		}
		v = t
	} else if err := c.sub.truth(b.then, f, c.route.mask, v); err != nil {
		return err
	}
	c.route.close(v.validity(), c.coalesce)
	for i, m := range c.route.mask {
		c.out.yes[i] |= m & v.yes[i]
		c.out.no[i] |= m & v.no[i]
	}
	return nil
}
