package partition

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/cespare/xxhash/v2"

	"github.com/tributary-db/tributary/pushdown/status"
)

// MaxValues bounds the values, and the buckets, that one promise lists.
const MaxValues = 1 << 12

// Promise is what the owner of a partition promises of every row that the
// partition ever has. The zero value promises nothing.
type Promise struct {
	// Values are, by column, all values that its rows may have. An invalid scalar
	// among them is NULL. The others are of the column's type, or for a
	// dictionary of that of its values.
	Values map[string][]scalar.Scalar
	// Buckets are those of a hash that its rows may be in; nil without a hash.
	Buckets *Buckets
}

// Buckets are some buckets of a hash.
type Buckets struct {
	Hash
	// Holds are the buckets of the partition.
	Holds []int
}

// Hash divides rows into buckets, as the package documentation defines it.
type Hash struct {
	// Columns are hashed in this order.
	Columns []string
	// Of is the number of buckets.
	Of int
}

// Bucket is the bucket of a row with these values; not ok when one of them is
// NULL, or of a type that has no canonical bytes.
func (h Hash) Bucket(values ...scalar.Scalar) (bucket int, ok bool) {
	var b []byte
	for _, v := range values {
		if b, ok = Bytes(b, v); !ok {
			return 0, false
		}
	}
	return h.of(b), true
}

func (h Hash) of(b []byte) int { return int(xxhash.Sum64(b) % uint64(h.Of)) }

// Equal reports whether both are the same function.
func (h Hash) Equal(o Hash) bool { return h.Of == o.Of && slices.Equal(h.Columns, o.Columns) }

// String is "hash(a, b, 16)".
func (h Hash) String() string {
	return fmt.Sprintf("hash(%s, %d)", strings.Join(h.Columns, ", "), h.Of)
}

// Empty reports that nothing is promised.
func (p *Promise) Empty() bool { return len(p.Values) == 0 && p.Buckets == nil }

// Text is the same for equal promises and differs for others.
func (p *Promise) Text() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		fmt.Fprintf(&b, "%q in", name)
		for _, v := range p.Values[name] {
			text, _ := Bytes(nil, v)
			fmt.Fprintf(&b, " %x", text)
		}
		b.WriteByte('\n')
	}
	if p.Buckets != nil {
		fmt.Fprintf(&b, "hash %q %d in %d\n", p.Buckets.Columns, p.Buckets.Of, p.Buckets.Holds)
	}
	return b.String()
}

// Validate reports whether the promise can be about rows of a schema.
func (p *Promise) Validate(schema *arrow.Schema) error {
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		if err := hashable(schema, name); err != nil {
			return err
		}
		if err := listed(schema.Field(schema.FieldIndices(name)[0]), p.Values[name]); err != nil {
			return err
		}
	}
	if p.Buckets == nil {
		return nil
	}
	return p.Buckets.validate(schema)
}

func hashable(schema *arrow.Schema, name string) error {
	at := schema.FieldIndices(name)
	switch {
	case len(at) != 1:
		return status.New(status.InvalidArgument, "the promise is about column %q, of which the table has %d", name, len(at))
	case !Hashable(schema.Field(at[0]).Type):
		return status.New(status.InvalidArgument, "the promise is about column %q: values of type %s cannot be promised", name, schema.Field(at[0]).Type)
	}
	return nil
}

// listed checks the values of one column.
func listed(f arrow.Field, values []scalar.Scalar) error {
	if len(values) > MaxValues {
		return status.New(status.InvalidArgument, "the promise lists %d values of column %q, more than %d: promise buckets of a hash", len(values), f.Name, MaxValues)
	}
	for _, v := range values {
		if v == nil || v.IsValid() && !SameBytes(v.DataType(), f.Type) {
			return status.New(status.InvalidArgument, "the promise lists the value %v for column %q of type %s", v, f.Name, f.Type)
		}
	}
	return nil
}

func (b *Buckets) validate(schema *arrow.Schema) error {
	if len(b.Columns) == 0 || b.Of < 1 || len(b.Holds) > MaxValues {
		return status.New(status.InvalidArgument, "the promise needs columns, a positive number of buckets, and at most %d of them in a partition", MaxValues)
	}
	for _, name := range b.Columns {
		if err := hashable(schema, name); err != nil {
			return err
		}
	}
	for _, i := range b.Holds {
		if i < 0 || i >= b.Of {
			return status.New(status.InvalidArgument, "the promise has bucket %d of %d", i, b.Of)
		}
	}
	return nil
}

// Among reports whether v, which may be NULL, is one of the values.
func Among(values []scalar.Scalar, v scalar.Scalar) bool {
	want, valid := Bytes(nil, v)
	return slices.ContainsFunc(values, func(o scalar.Scalar) bool {
		have, ok := Bytes(nil, o)
		return ok == valid && bytes.Equal(have, want)
	})
}
