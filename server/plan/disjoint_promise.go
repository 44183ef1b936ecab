package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/server/catalog"
)

// maxPlaces bounds the combinations of values that are compared.
const maxPlaces = 1 << 16

// byPromise proves from what owners promise that no group is on two scanners,
// and notes why in r.
func (g *groups) byPromise(r *Reduce, targets []Target) bool {
	keys := map[string]int{}
	for i := range g.scan.Partial.Keys {
		if column, ok := g.scan.keyColumn(i); ok {
			keys[column.Name] = i
		}
	}
	by := promisedApart(g.scan.Table, targets, keys)
	// Of several columns a row might have a NULL in any, and only one key can be
	// set apart.
	if by == nil || len(by.hashed()) > 1 {
		return false
	}
	r.Pinned, r.Promised, r.Why = true, true, by.why()
	if by.hash != nil {
		r.Apart = keys[by.hash.Columns[0]] // NULL is in any bucket
	}
	return true
}

// placement is why, by what owners promise, no combination of columns is on two
// scanners: each lists the values that it has, and the buckets of a hash.
type placement struct {
	listed []string
	hash   *partition.Hash // nil when the listed values suffice
}

// hashed are the columns in which NULL may be on any scanner.
func (p *placement) hashed() []string {
	if p.hash == nil {
		return nil
	}
	return p.hash.Columns
}

func (p *placement) why() string {
	if p.hash == nil {
		return "by its partition function no " + combination(p.listed) + " is on two scanners"
	}
	return fmt.Sprintf("by its partition function %s no %s is on two scanners", p.hash, combination(union(p.listed, p.hash.Columns)))
}

// promisedApart proves from what owners promise that no combination of keys, which
// are columns of the table, is on two scanners; nil when it is not proven.
func promisedApart(t *catalog.Table, targets []Target, keys map[string]int) *placement {
	read := promisesOf(t, targets)
	if len(keys) == 0 || read == nil {
		return nil
	}
	columns := sharedColumns(read, keys)
	if len(columns) > 0 && apartPlaces(read, columns, false) {
		return &placement{listed: columns}
	}
	h := sharedHash(read, keys)
	if h == nil || !apartPlaces(read, columns, true) {
		return nil
	}
	return &placement{columns, h}
}

func combination(columns []string) string {
	if len(columns) == 1 {
		return "value of " + columns[0]
	}
	return "combination of " + strings.Join(columns, ", ")
}

// promisedPart is a partition that is read.
type promisedPart struct {
	target  int
	promise *partition.Promise
}

// promisesOf are those of all partitions that are read; nil when some scanner
// has none. A table with replicas is left alone, as in disjointBy.
func promisesOf(t *catalog.Table, targets []Target) []promisedPart {
	at := partitionsByID(t)
	var out []promisedPart
	for i := range targets {
		if t.PromiseVersions[targets[i].Scanner.Name] == "" {
			return nil
		}
		for _, id := range targets[i].Partitions {
			if len(at[id].Owners) > 1 {
				return nil
			}
			out = append(out, promisedPart{i, &at[id].Promise})
		}
	}
	return out
}

// sharedColumns are the keys of which every partition lists its values.
func sharedColumns(read []promisedPart, keys map[string]int) []string {
	var out []string
	for name := range keys {
		if !slices.ContainsFunc(read, func(p promisedPart) bool { _, ok := p.promise.Values[name]; return !ok }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// sharedHash is the hash of keys that all partitions are divided by, nil for
// none.
func sharedHash(read []promisedPart, keys map[string]int) *partition.Hash {
	var h *partition.Hash
	for _, p := range read {
		b := p.promise.Buckets
		if b == nil || h != nil && !h.Equal(b.Hash) {
			return nil
		}
		h = &b.Hash
	}
	if h == nil || slices.ContainsFunc(h.Columns, func(name string) bool { _, ok := keys[name]; return !ok }) {
		return nil
	}
	return h
}

// apartPlaces reports whether no combination of the columns' values, and of a
// bucket if hashed, is on two targets.
func apartPlaces(read []promisedPart, columns []string, hashed bool) bool {
	owner := map[string]int{}
	for _, p := range read {
		places := p.places(columns, hashed)
		if places == nil || len(owner)+len(places) > maxPlaces {
			return false
		}
		for _, place := range places {
			if other, taken := owner[place]; taken && other != p.target {
				return false
			}
			owner[place] = p.target
		}
	}
	return true
}

// places are the combinations that rows of the partition may have; nil when
// they are too many.
func (p promisedPart) places(columns []string, hashed bool) []string {
	out := []string{""}
	for _, name := range columns {
		var texts []string
		for _, v := range p.promise.Values[name] {
			text, ok := partition.Bytes(nil, v)
			if !ok {
				text = []byte("NULL")
			}
			texts = append(texts, fmt.Sprintf("%d:%s", len(text), text))
		}
		if out = product(out, texts); out == nil {
			return nil
		}
	}
	if !hashed {
		return out
	}
	return product(out, mapSlice(p.promise.Buckets.Holds, func(i int) string { return fmt.Sprint("#", i) }))
}

// product is never nil but for too many.
func product(a, b []string) []string {
	if len(a)*len(b) > maxPlaces {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}
