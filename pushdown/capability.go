package pushdown

import (
	"slices"
	"strings"
)

// Capability names one thing that a scanner can do. Names are dotted paths:
// "filter", "filter.in", "filter.like", "expr.arith", "expr.cast", "expr.case",
// "expr.call", "agg.count", "agg.sum.<family>", "agg.minmax.<family>",
// "group.<family>", "limit", "topn", "reduce", "lookup", "dynamic_filter", "widen". A family is bool, int, float, decimal,
// string, binary, date, time or timestamp. The set is additive: unknown names
// are ignored.
type Capability string

// Capabilities is a sorted set of capabilities. The zero value is empty: a
// source that only yields rows.
type Capabilities struct{ names []Capability }

// NewCapabilities returns the set of the given names.
func NewCapabilities(names ...Capability) Capabilities {
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return Capabilities{names: slices.Compact(sorted)}
}

// Has reports whether c is in the set.
func (s Capabilities) Has(c Capability) bool {
	_, ok := slices.BinarySearch(s.names, c)
	return ok
}

// Names returns the members in order.
func (s Capabilities) Names() []Capability { return slices.Clone(s.names) }

// Without returns the set less every capability that equals one of the given
// names or lies below it: "agg" removes "agg.sum.int". "agg" also removes
// "group", and "all" removes everything.
func (s Capabilities) Without(names ...string) Capabilities {
	kept := slices.DeleteFunc(slices.Clone(s.names), func(c Capability) bool {
		return slices.ContainsFunc(names, func(n string) bool { return withholds(n, c) })
	})
	return Capabilities{names: kept}
}

func withholds(name string, c Capability) bool {
	below := func(n string) bool { return string(c) == n || strings.HasPrefix(string(c), n+".") }
	return name == "all" || below(name) || name == "agg" && below("group")
}

// Union returns the members of both sets.
func (s Capabilities) Union(o Capabilities) Capabilities {
	return NewCapabilities(append(s.Names(), o.names...)...)
}
