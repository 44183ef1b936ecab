package partition

import "github.com/apache/arrow-go/v18/arrow/scalar"

// set is a set of values by their canonical bytes.
type set struct {
	values map[string]bool
	null   bool
}

func newSet(values []scalar.Scalar) set {
	s := set{values: make(map[string]bool, len(values))}
	for _, v := range values {
		text, ok := Bytes(nil, v)
		s.null = s.null || !ok
		if ok {
			s.values[string(text)] = true
		}
	}
	return s
}

func (s set) has(text []byte, valid bool) bool {
	if !valid {
		return s.null
	}
	return s.values[string(text)]
}
