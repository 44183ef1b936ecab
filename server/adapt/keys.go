package adapt

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

// Bounds of an IN list; a longer one becomes a range.
const (
	maxValues    = 10_000
	maxTextBytes = 1 << 20
)

// Keys are the distinct values of a column of a scan, without NULL: all of them
// as long as they are few, and always the least and the greatest.
type Keys struct {
	// Type is the column's.
	Type arrow.DataType
	// Nulls counts the rows in which the column is NULL.
	Nulls int64

	values    map[key]struct{}
	texts     int // bytes of the texts among values
	tooMany   bool
	any       bool
	unknown   bool // an array had another type
	low, high key
}

// NewKeys returns no values of a type.
func NewKeys(dt arrow.DataType) *Keys {
	return &Keys{Type: dt, values: map[key]struct{}{}}
}

// Forget makes the keys unknown: not all rows were seen.
func (k *Keys) Forget() { k.unknown = true }

// Add adds the values of an array of the type.
func (k *Keys) Add(arr arrow.Array) {
	read := keysOf(arr)
	if read == nil {
		k.unknown = true
		return
	}
	for i := range arr.Len() {
		if isNull(arr, i) {
			k.Nulls++
			continue
		}
		k.add(read(i))
	}
}

func (k *Keys) add(v key) {
	if _, known := k.values[v]; known {
		return
	}
	if k.tooMany && compareKeys(k.low, v) <= 0 && compareKeys(v, k.high) <= 0 {
		return
	}
	v.text = strings.Clone(v.text) // the array goes away
	if !k.any || compareKeys(v, k.low) < 0 {
		k.low = v
	}
	if !k.any || compareKeys(v, k.high) > 0 {
		k.high = v
	}
	k.any = true
	if k.tooMany {
		return
	}
	k.values[v] = struct{}{}
	k.texts += len(v.text)
	if len(k.values) > maxValues || k.texts > maxTextBytes {
		k.tooMany, k.values = true, nil
	}
}

// None reports that there is no value but NULL.
func (k *Keys) None() bool { return !k.any && !k.unknown }

// Text describes the keys without listing them.
func (k *Keys) Text() string {
	if k.unknown {
		return "unknown values"
	}
	if k.tooMany {
		return fmt.Sprintf("a range of more than %d values", maxValues)
	}
	if len(k.values) == 1 {
		return "1 value"
	}
	if k.consecutive() {
		return fmt.Sprintf("%d consecutive values", len(k.values))
	}
	return fmt.Sprintf("%d values", len(k.values))
}

// Filter is the condition that a column is one of the values, or between the
// least and the greatest. It is nil when there is none that a scanner could be
// asked for.
func (k *Keys) Filter(column pushdown.Column) pushdown.Expr {
	e := k.filter(column)
	if e == nil || pushdown.Supported(e) != nil {
		return nil
	}
	return e
}

func (k *Keys) filter(column pushdown.Column) pushdown.Expr {
	switch {
	case !k.any || k.unknown || len(k.low.text)+len(k.high.text) > maxTextBytes:
		return nil
	case len(k.values) == 1:
		return pushdown.Compare{Op: pushdown.Equal, Left: column, Right: k.low.literal(k.Type)}
	case k.tooMany || k.consecutive():
		return pushdown.And{Args: []pushdown.Expr{
			pushdown.Compare{Op: pushdown.GreaterEqual, Left: column, Right: k.low.literal(k.Type)},
			pushdown.Compare{Op: pushdown.LessEqual, Left: column, Right: k.high.literal(k.Type)},
		}}
	}
	in := pushdown.In{Arg: column}
	for _, v := range k.sorted() {
		in.Values = append(in.Values, v.literal(k.Type))
	}
	return in
}

// Bound is the condition that a column is less or greater than one of the values,
// which is that it is less than the greatest or greater than the least. It is nil
// when there is none that a scanner could be asked for.
func (k *Keys) Bound(column pushdown.Column, op pushdown.CompareOp) pushdown.Expr {
	v := k.end(op)
	if !k.any || k.unknown || len(v.text) > maxTextBytes {
		return nil
	}
	e := pushdown.Compare{Op: op, Left: column, Right: v.literal(k.Type)}
	if pushdown.Supported(e) != nil {
		return nil
	}
	return e
}

// end is the value that what compares with any of the values compares with.
func (k *Keys) end(op pushdown.CompareOp) key {
	if op == pushdown.Less || op == pushdown.LessEqual {
		return k.high
	}
	return k.low
}

// single: there is at most one value, NULL being one.
func (k *Keys) single() bool {
	return k != nil && !k.unknown && !k.tooMany && (len(k.values) == 0 || len(k.values) == 1 && k.Nulls == 0)
}

// consecutive: the values are numbers without a gap, as the days of a month are,
// so that their range says as much as a list and costs nothing to look up.
func (k *Keys) consecutive() bool {
	low, borrow := bits.Sub64(k.high.low, k.low.low, 0)
	high, _ := bits.Sub64(uint64(k.high.high), uint64(k.low.high), borrow)
	return len(k.values) > 1 && high == 0 && low == uint64(len(k.values)-1)
}

// listed is the number of values that a scanner has to look up.
func (k *Keys) listed() int {
	if k.consecutive() {
		return 0
	}
	return len(k.values)
}

func (k *Keys) sorted() []key {
	out := make([]key, 0, len(k.values))
	for v := range k.values {
		out = append(out, v)
	}
	slices.SortFunc(out, compareKeys)
	return out
}
