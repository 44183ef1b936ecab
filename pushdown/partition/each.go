package partition

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// EachValue calls visit with the canonical bytes of every value that is not NULL;
// of a dictionary each value that occurs, once. It reports false for a type
// without them. The bytes are overwritten by the next call.
func EachValue(a arrow.Array, visit func(text []byte)) bool {
	if !Hashable(a.DataType()) {
		return false
	}
	if d, ok := a.(*array.Dictionary); ok {
		eachUsed(d, visit)
		return true
	}
	encode, buf := encoder(a), []byte(nil)
	for i := range a.Len() {
		if a.IsValid(i) {
			buf = encode(buf[:0], i)
			visit(buf)
		}
	}
	return true
}

func eachUsed(d *array.Dictionary, visit func(text []byte)) {
	values := d.Dictionary()
	used := make([]bool, values.Len())
	for i := range d.Len() {
		if d.IsValid(i) {
			used[d.GetValueIndex(i)] = true
		}
	}
	encode, buf := encoder(values), []byte(nil)
	for i, u := range used {
		if u && values.IsValid(i) {
			buf = encode(buf[:0], i)
			visit(buf)
		}
	}
}
