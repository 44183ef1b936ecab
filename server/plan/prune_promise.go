package plan

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
)

// promise adds that the owner lists all values of the column.
func (c *known) promise(values []scalar.Scalar) {
	c.set = []scalar.Scalar{}
	null := false
	for _, v := range values {
		if null = null || !v.IsValid(); v.IsValid() {
			c.set = append(c.set, v)
		}
	}
	c.nulls, c.values = c.nulls && null, c.values && len(c.set) > 0
}

// whereOf is where the values of a set lie relative to a constant.
func whereOf(set []scalar.Scalar, v scalar.Scalar) position {
	var out position
	for _, s := range set {
		p := positionOf(s, v)
		out = position{out.below || p.below, out.at || p.at, out.above || p.above}
	}
	return out
}

func positionOf(s, v scalar.Scalar) position {
	if order, ok := compareScalars(s, v); ok {
		return position{below: order < 0, at: order == 0, above: order > 0}
	}
	if !partition.SameBytes(s.DataType(), v.DataType()) {
		return position{true, true, true}
	}
	same := partition.Among([]scalar.Scalar{s}, v)
	return position{below: !same, at: same, above: !same}
}

// maxBuckets bounds the combinations of constants that are hashed for a filter.
const maxBuckets = 1 << 16

// bucketFilter says which buckets of a hash may have rows for a filter. It is
// worked out once for each hash.
type bucketFilter struct {
	filter []pushdown.Expr
	hashes []wantedBuckets
}

// wantedBuckets are those of a hash in which rows may pass; nil for all.
type wantedBuckets struct {
	hash    partition.Hash
	buckets *big.Int
}

// excludes reports whether no row of a partition with this promise passes.
func (f *bucketFilter) excludes(p *partition.Promise) bool {
	if p.Buckets == nil {
		return false
	}
	wanted := f.wanted(p.Buckets.Hash)
	if wanted == nil {
		return false
	}
	for _, i := range p.Buckets.Holds {
		if wanted.Bit(i) == 1 {
			return false
		}
	}
	return true
}

func (f *bucketFilter) wanted(h partition.Hash) *big.Int {
	for _, w := range f.hashes {
		if w.hash.Equal(h) {
			return w.buckets
		}
	}
	w := wantedBuckets{hash: h, buckets: f.hashed(h)}
	f.hashes = append(f.hashes, w)
	return w.buckets
}

// hashed hashes all combinations of the constants that the filter allows for
// the columns of a hash; nil when it does not say.
func (f *bucketFilter) hashed(h partition.Hash) *big.Int {
	rows := [][]scalar.Scalar{nil}
	for _, name := range h.Columns {
		values, ok := f.constants(name)
		if !ok || len(rows)*len(values) > maxBuckets {
			return nil
		}
		var longer [][]scalar.Scalar
		for _, r := range rows {
			for _, v := range values {
				longer = append(longer, append(r[:len(r):len(r)], v))
			}
		}
		rows = longer
	}
	out := new(big.Int)
	for _, r := range rows {
		bucket, ok := h.Bucket(r...)
		if !ok {
			return nil
		}
		out.SetBit(out, bucket, 1)
	}
	return out
}

// constants are the values that a column has in every row that passes; the
// fewest that a conjunct allows.
func (f *bucketFilter) constants(column string) (best []scalar.Scalar, found bool) {
	for _, e := range f.filter {
		values, ok := allowed(e, column)
		if ok && (!found || len(values) < len(best)) {
			best, found = values, true
		}
	}
	return best, found
}

// allowed are the values for which a conjunct may be true. A comparison with
// NULL never is.
func allowed(e pushdown.Expr, column string) (values []scalar.Scalar, ok bool) {
	var list []pushdown.Literal
	switch e := e.(type) {
	case pushdown.Compare:
		left, right := e.Left, e.Right
		if _, constant := left.(pushdown.Literal); constant {
			left, right = right, left
		}
		value, constant := right.(pushdown.Literal)
		if !constant || !isColumn(left, column) || e.Op != pushdown.Equal && (e.Op != pushdown.NotDistinct || !value.Value.IsValid()) {
			return nil, false
		}
		list = []pushdown.Literal{value}
	case pushdown.In:
		if e.Negated || !isColumn(e.Arg, column) {
			return nil, false
		}
		list = e.Values
	case pushdown.Or:
		return allowedByAny(e.Args, column)
	default:
		return nil, false
	}
	for _, v := range list {
		if v.Value.IsValid() {
			values = append(values, v.Value)
		}
	}
	return values, true
}

func allowedByAny(args []pushdown.Expr, column string) (values []scalar.Scalar, ok bool) {
	for _, e := range args {
		more, ok := allowed(e, column)
		if !ok {
			return nil, false
		}
		values = append(values, more...)
	}
	return values, true
}

func isColumn(e pushdown.Expr, name string) bool {
	c, ok := e.(pushdown.Column)
	return ok && c.Name == name
}
