package eval

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

func (c *compiler) callNode(e pushdown.Call) (node, error) {
	arg, err := c.node(e.Args[0])
	if err != nil {
		return nil, err
	}
	source := pushdown.ValueType(e.Args[0].Type())
	switch {
	case e.Func.IsPart():
		return partNode(e.Func, arg, source), nil
	case e.Func.IsTrunc():
		return truncNode(e.Func, arg, source), nil
	case e.Func == pushdown.FuncLength:
		return &mapNode[string, int64]{arg: arg, one: func(s string) int64 { return int64(pushdown.Length(s)) }}, nil
	case e.Func == pushdown.FuncLower:
		return &letterNode{arg: arg, same: pushdown.IsLower, write: pushdown.AppendLower}, nil
	case e.Func == pushdown.FuncUpper:
		return &letterNode{arg: arg, same: pushdown.IsUpper, write: pushdown.AppendUpper}, nil
	case e.Func == pushdown.FuncAbs:
		return absNode(arg, e.DataType), nil
	case e.Func >= pushdown.FuncModulo:
		divisor, err := c.node(e.Args[1])
		return divideNode(e, arg, divisor), err
	}
	return cutNode(e, arg), nil
}

func cutNode(e pushdown.Call, arg node) node {
	start, length := e.Positions()
	if e.Func == pushdown.FuncRight {
		return &mapNode[string, string]{arg: arg, one: func(s string) string { return pushdown.Right(s, length) }}
	}
	return &mapNode[string, string]{arg: arg, one: func(s string) string { return pushdown.Substring(s, start, length) }}
}

// mapNode applies a function that never fails.
type mapNode[S, D any] struct {
	arg node
	one func(S) D
	out col[D]
}

func (n *mapNode[S, D]) eval(f *frame) (vec, error) {
	v, err := evalCol[S](n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.vals = resize(n.out.vals, f.n)
	n.out.valid = v.valid
	for i, x := range v.vals[:f.n] {
		n.out.vals[i] = n.one(x)
	}
	return &n.out, nil
}

// letterNode changes the case of strings. What changes is written to bytes that
// the node owns.
type letterNode struct {
	arg   node
	same  func(string) bool
	write func([]byte, string) []byte
	bytes []byte
	out   col[string]
}

func (n *letterNode) eval(f *frame) (vec, error) {
	v, err := evalCol[string](n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.vals = resize(n.out.vals, f.n)
	n.out.valid = v.valid
	n.bytes = n.bytes[:0]
	for i, s := range v.vals[:f.n] {
		if v.valid != nil && !bit(v.valid, i) {
			s = ""
		} else if !n.same(s) {
			from := len(n.bytes)
			n.bytes = n.write(n.bytes, s)
			// When bytes grow they move, but this string keeps its place.
			s = unsafe.String(unsafe.SliceData(n.bytes[from:]), len(n.bytes)-from)
		}
		n.out.vals[i] = s
	}
	return &n.out, nil
}

// nullingNode applies a function that yields NULL for some values.
type nullingNode[S, D any] struct {
	arg   node
	one   func(S) (D, bool)
	valid []uint64
	out   col[D]
}

func (n *nullingNode[S, D]) eval(f *frame) (vec, error) {
	v, err := evalCol[S](n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.vals = resize(n.out.vals, f.n)
	n.valid = ownValid(n.valid, v.valid, f.n)
	n.out.valid = n.valid
	for i, x := range v.vals[:f.n] {
		r, ok := n.one(x)
		n.out.vals[i] = r
		if !ok {
			n.valid[i>>6] &^= 1 << (i & 63)
		}
	}
	return &n.out, nil
}

// ownValid is a copy of valid in dst.
func ownValid(dst, valid []uint64, n int) []uint64 {
	dst = resize(dst, wordsFor(n))
	if valid == nil {
		fill(dst, n)
	} else {
		copy(dst, valid[:wordsFor(n)])
	}
	return dst
}

func partNode(f pushdown.Func, arg node, source arrow.DataType) node {
	if source.ID() == arrow.DATE32 {
		return &nullingNode[int32, int64]{arg: arg, one: func(v int32) (int64, bool) {
			return f.DatePart(int64(v), 0), !infinite(v, math.MaxInt32)
		}}
	}
	return &nullingNode[int64, int64]{arg: arg, one: func(v int64) (int64, bool) {
		days, micros := pushdown.SplitMicros(v)
		return f.DatePart(days, micros), !infinite(v, math.MaxInt64)
	}}
}

func truncNode(f pushdown.Func, arg node, source arrow.DataType) node {
	to := arrow.FixedWidthTypes.Timestamp_us
	if source.ID() == arrow.DATE32 {
		one := func(v int32) (int64, uint64) {
			if infinite(v, math.MaxInt32) {
				return int64(v) / math.MaxInt32 * math.MaxInt64, 0
			}
			ts, ok := f.Truncate(int64(v), 0)
			return ts, b2u(!ok)
		}
		return &castNode[int32, int64]{arg: arg, to: to, conv: checkedConversion(one, func(v int32) string {
			return fmt.Sprintf("day %d since 1970-01-01, truncated,", v)
		})}
	}
	one := func(v int64) (int64, uint64) {
		if infinite(v, math.MaxInt64) {
			return v, 0
		}
		ts, ok := f.Truncate(pushdown.SplitMicros(v))
		return ts, b2u(!ok)
	}
	return &castNode[int64, int64]{arg: arg, to: to, conv: checkedConversion(one, func(v int64) string {
		return fmt.Sprintf("timestamp %d, truncated,", v)
	})}
}
