package eval

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/status"
)

// columnNode reads a column, decoding a dictionary.
type columnNode[T any] struct {
	index   int
	read    reader[T]
	scratch []T
	valid   []uint64
	codes   dictCodes
	out     col[T]
}

func (c *columnNode[T]) eval(f *frame) (vec, error) {
	arr := f.cols[c.index]
	if d, ok := arr.(*array.Dictionary); ok {
		return c.decode(d, f)
	}
	data := arr.Data()
	c.out.valid = readValidity(data, f, c.valid)
	if c.out.valid != nil {
		c.valid = c.out.valid
	}
	if f.sel == nil {
		vals, err := c.read.dense(data, f.off, f.n, &c.scratch)
		c.out.vals = vals
		return &c.out, err
	}
	c.scratch = resize(c.scratch, f.n)
	c.out.vals = c.scratch
	return &c.out, c.read.gather(data, f.off, f.sel, c.scratch)
}

func (c *columnNode[T]) decode(d *array.Dictionary, f *frame) (vec, error) {
	codes, valid, err := c.codes.read(d, f)
	if err != nil {
		return nil, err
	}
	c.out.valid = valid
	c.scratch = resize(c.scratch, f.n)
	c.out.vals = c.scratch
	if d.Dictionary().Len() == 0 {
		clear(c.scratch)
		return &c.out, nil
	}
	return &c.out, c.read.gather(d.Dictionary().Data(), 0, codes, c.scratch)
}

// dictCodes reads the codes of a dictionary column.
type dictCodes struct {
	codes []int32
	valid []uint64
}

// read returns the codes of f's rows and which rows are not NULL. Codes of NULL
// rows are in range too, unless the dictionary is empty.
func (c *dictCodes) read(d *array.Dictionary, f *frame) ([]int32, []uint64, error) {
	codes, err := readCodes(d.Data(), f, c.codes)
	if err != nil {
		return nil, nil, err
	}
	c.codes = codes
	valid := readValidity(d.Data(), f, c.valid)
	if valid != nil {
		c.valid = valid
	}
	if err := clampCodes(codes, valid, d.Dictionary().Len()); err != nil {
		return nil, nil, err
	}
	return codes, c.dropNullValues(codes, valid, d.Dictionary().Data(), f.n), nil
}

func clampCodes(codes []int32, valid []uint64, size int) error {
	var largest uint32
	for _, code := range codes {
		largest = max(largest, uint32(code))
	}
	if int(largest) < size {
		return nil
	}
	for i, code := range codes {
		if uint(code) < uint(size) {
			continue
		}
		if valid == nil || bit(valid, i) {
			return status.New(status.DataLoss, "a dictionary code is %d, the dictionary has %d values", code, size)
		}
		codes[i] = 0
	}
	return nil
}

// dropNullValues makes NULL the rows whose code names a NULL in the dictionary.
func (c *dictCodes) dropNullValues(codes []int32, valid []uint64, dict arrow.ArrayData, n int) []uint64 {
	bitmap := buffer(dict, 0)
	if bitmap == nil || dict.NullN() == 0 {
		return valid
	}
	if valid == nil {
		c.valid = resize(c.valid, wordsFor(n))
		fill(c.valid, n)
	}
	for i, code := range codes {
		if !byteBit(bitmap, dict.Offset()+int(code)) {
			c.valid[i>>6] &^= 1 << (i & 63)
		}
	}
	return c.valid
}

// boolColumn reads a boolean column.
type boolColumn struct {
	index int
	valid []uint64
	codes dictCodes
	out   truth
}

func (c *boolColumn) eval(f *frame) (vec, error) {
	arr := f.cols[c.index]
	c.out.resize(f.n)
	if d, ok := arr.(*array.Dictionary); ok {
		codes, valid, err := c.codes.read(d, f)
		if err != nil {
			return nil, err
		}
		dict := d.Dictionary().Data()
		if dict.Len() == 0 {
			clear(c.out.yes)
		} else {
			gatherBits(c.out.yes, buffer(dict, 1), dict.Offset(), codes)
		}
		c.out.settle(valid, false)
		return &c.out, nil
	}
	data := arr.Data()
	vals := buffer(data, 1)
	if len(vals)*8 < data.Offset()+data.Len() {
		return nil, shortBuffer(data)
	}
	if f.sel == nil {
		loadBits(c.out.yes, vals, data.Offset()+f.off, f.n)
	} else {
		gatherBits(c.out.yes, vals, data.Offset()+f.off, f.sel)
	}
	valid := readValidity(data, f, c.valid)
	if valid != nil {
		c.valid = valid
	}
	c.out.settle(valid, false)
	return &c.out, nil
}

// presence is the validity of a column of any type, as a vector without values.
type presence struct {
	index int
	valid []uint64
	codes dictCodes
	out   col[struct{}]
}

func (c *presence) eval(f *frame) (vec, error) {
	arr := f.cols[c.index]
	switch a := arr.(type) {
	case *array.Dictionary:
		_, valid, err := c.codes.read(a, f)
		c.out.valid = valid
		return &c.out, err
	case *array.Null:
		c.valid = resize(c.valid, wordsFor(f.n))
		clear(c.valid)
		c.out.valid = c.valid
		return &c.out, nil
	}
	c.out.valid = readValidity(arr.Data(), f, c.valid)
	if c.out.valid != nil {
		c.valid = c.out.valid
	}
	return &c.out, nil
}
