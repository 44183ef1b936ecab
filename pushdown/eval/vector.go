package eval

// vec is the result of a node for one frame: *col[T] or *truth. It belongs to
// the node and is valid until the node runs again.
type vec interface {
	// validity is the bitmap of rows that are not NULL, nil for all. Bits from
	// the row count on are unspecified, in every bitmap.
	validity() []uint64
}

// col is a vector of values. Values of NULL rows are unspecified.
type col[T any] struct {
	vals  []T
	valid []uint64
	// konst says that all rows are equal.
	konst bool
}

func (c *col[T]) validity() []uint64 { return c.valid }

// truth is a vector of booleans: yes has the rows that are true, no those that
// are false, NULL is in neither.
type truth struct {
	yes, no []uint64
	valid   []uint64
}

func (b *truth) validity() []uint64 {
	b.valid = resize(b.valid, len(b.yes))
	for i := range b.valid {
		b.valid[i] = b.yes[i] | b.no[i]
	}
	return b.valid
}

func (b *truth) resize(n int) {
	b.yes = resize(b.yes, wordsFor(n))
	b.no = resize(b.no, wordsFor(n))
}

// settle turns yes, a bitmap of hits that ignores NULL, into a truth vector.
func (b *truth) settle(valid []uint64, negated bool) {
	for i, w := range b.yes {
		if negated {
			w = ^w
		}
		v := ^uint64(0)
		if valid != nil {
			v = valid[i]
		}
		b.yes[i], b.no[i] = w&v, ^w&v
	}
}

// node is one compiled expression.
type node interface {
	eval(f *frame) (vec, error)
}

func evalCol[T any](n node, f *frame) (*col[T], error) {
	v, err := n.eval(f)
	if err != nil {
		return nil, err
	}
	return v.(*col[T]), nil
}

func evalTruth(n node, f *frame) (*truth, error) {
	v, err := n.eval(f)
	if err != nil {
		return nil, err
	}
	return v.(*truth), nil
}
