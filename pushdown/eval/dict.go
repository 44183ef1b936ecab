package eval

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// dictTest is a predicate of one dictionary column: it is evaluated once for
// each value of the dictionary, and rows look the answer up by code.
type dictTest struct {
	index int
	// inner reads its input, the dictionary's values, as column 0.
	inner node
	// plain is the same predicate over decoded rows, for dictionaries that are
	// larger than the batch.
	plain node

	batch uint64
	// yes and no are 1 for the values that pass and that fail.
	yes, no []uint8
	// decided: the predicate is NULL for no value but NULL.
	decided bool
	codes   dictCodes
	out     truth
}

func (d *dictTest) eval(f *frame) (vec, error) {
	arr := f.cols[d.index].(*array.Dictionary)
	size := arr.Dictionary().Len()
	if size > arr.Len() || size == 0 {
		return d.plain.eval(f)
	}
	if d.batch != f.batch {
		if err := d.prepare(arr.Dictionary()); err != nil {
			return nil, err
		}
		d.batch = f.batch
	}
	codes, valid, err := d.codes.read(arr, f)
	if err != nil {
		return nil, err
	}
	d.out.resize(f.n)
	lookUp(d.out.yes, d.yes, codes)
	if d.decided {
		d.out.settle(valid, false)
		return &d.out, nil
	}
	lookUp(d.out.no, d.no, codes)
	d.mask(valid)
	return &d.out, nil
}

// mask makes NULL the rows that are NULL: every predicate that is compiled to a
// dictTest is NULL on NULL.
func (d *dictTest) mask(valid []uint64) {
	if valid == nil {
		return
	}
	for i, v := range valid[:len(d.out.yes)] {
		d.out.yes[i] &= v
		d.out.no[i] &= v
	}
}

// prepare evaluates the predicate over the dictionary.
func (d *dictTest) prepare(values arrow.Array) error {
	n := values.Len()
	d.yes, d.no, d.decided = resize(d.yes, n), resize(d.no, n), true
	f := frame{cols: []arrow.Array{values}}
	for f.off = 0; f.off < n; f.off += chunkRows {
		f.n = min(chunkRows, n-f.off)
		b, err := evalTruth(d.inner, &f)
		if err != nil {
			return err
		}
		for i := range f.n {
			yes, no := uint8(b.yes[i>>6]>>(i&63)&1), uint8(b.no[i>>6]>>(i&63)&1)
			d.yes[f.off+i], d.no[f.off+i] = yes, no
			if yes|no == 0 && values.IsValid(f.off+i) {
				d.decided = false
			}
		}
	}
	return nil
}

// lookUp sets bit i of dst to answer[codes[i]].
func lookUp(dst []uint64, answer []uint8, codes []int32) {
	for k := range dst {
		var blk []int32
		blk, codes = block(codes)
		var w uint64
		for _, c := range blk {
			w = w>>1 | uint64(answer[c])<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}
