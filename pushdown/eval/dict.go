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
	yes   []uint64
	no    []uint64
	codes dictCodes
	out   truth
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
	gatherWords(d.out.yes, d.yes, codes)
	gatherWords(d.out.no, d.no, codes)
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
	d.yes = resize(d.yes, wordsFor(n))
	d.no = resize(d.no, wordsFor(n))
	f := frame{cols: []arrow.Array{values}}
	for f.off = 0; f.off < n; f.off += chunkRows {
		f.n = min(chunkRows, n-f.off)
		b, err := evalTruth(d.inner, &f)
		if err != nil {
			return err
		}
		copy(d.yes[f.off>>6:], b.yes)
		copy(d.no[f.off>>6:], b.no)
	}
	return nil
}

// gatherWords sets bit i of dst to bit rows[i] of src.
func gatherWords(dst, src []uint64, rows []int32) {
	for k := range dst {
		var blk []int32
		blk, rows = block(rows)
		var w uint64
		for _, r := range blk {
			w = w>>1 | src[r>>6]>>(r&63)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}
