package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/status"
)

// merge builds a snapshot without a version from the views, in order of
// precedence.
func merge(views []view) *Snapshot {
	snap := &Snapshot{Tables: map[string]*Table{}, Scanners: map[string]*Scanner{}}
	owners := snap.addScanners(views)
	merger := &merger{tables: map[string]*merged{}}
	for i, v := range views {
		if owners[i] == nil {
			continue
		}
		for _, t := range v.hello.Tables {
			merger.add(owners[i], t)
		}
	}
	for _, m := range merger.tables {
		snap.Tables[m.table.ID()] = m.finish()
	}
	return snap
}

// addScanners lists every scanner and returns, by view, those that contribute
// tables.
func (s *Snapshot) addScanners(views []view) []*Scanner {
	owners := make([]*Scanner, len(views))
	for i, v := range views {
		if v.hello == nil {
			continue
		}
		if _, taken := s.Scanners[v.hello.Name]; !taken {
			owners[i] = &Scanner{Name: v.hello.Name, Addr: v.addr, Epoch: v.hello.Epoch, Capabilities: v.hello.Capabilities, Advertise: v.hello.Advertise, Err: v.err}
			s.Scanners[v.hello.Name] = owners[i]
		}
	}
	for i, v := range views {
		if owners[i] == nil {
			s.addIdle(v)
		}
	}
	return owners
}

// addIdle lists a scanner that contributes no tables: it was never reached, or
// its name is taken.
func (s *Snapshot) addIdle(v view) {
	idle := &Scanner{Addr: v.addr, Err: v.err}
	missing := true
	if v.hello != nil {
		first := s.Scanners[v.hello.Name]
		idle.Name, idle.Epoch, idle.Capabilities = v.hello.Name, v.hello.Epoch, v.hello.Capabilities
		idle.Err = duplicateName(first, v)
		// One process behind two addresses is harmless: its tables are there.
		missing = v.hello.Epoch == "" || v.hello.Epoch != first.Epoch
	}
	key := v.addr
	for s.Scanners[key] != nil {
		key = "@" + key
	}
	s.Scanners[key] = idle
	if missing {
		s.Missing = append(s.Missing, idle)
	}
}

func duplicateName(first *Scanner, v view) error {
	if v.hello.Epoch != "" && v.hello.Epoch == first.Epoch {
		return status.New(status.AlreadyExists,
			"%s and %s are the same scanner %q; configure it once", v.addr, first.Addr, first.Name)
	}
	return status.New(status.AlreadyExists,
		"scanner at %s has the name %q, which the scanner at %s has already; give each scanner its own name",
		v.addr, first.Name, first.Addr)
}

// merger collects tables over the scanners.
type merger struct{ tables map[string]*merged }

// merged is a table under construction.
type merged struct {
	table  *Table
	offers []offer
	parts  map[string]*Partition
}

// offer is a table as one scanner has it.
type offer struct {
	owner *Scanner
	table codec.Table
}

// add contributes one scanner's table. Tables are told apart as the engine
// tells them apart: without regard to case.
func (m *merger) add(owner *Scanner, t codec.Table) {
	key := strings.ToLower(t.Schema + "." + t.Name)
	into := m.tables[key]
	if into == nil {
		into = &merged{parts: map[string]*Partition{}, table: &Table{
			Schema: t.Schema, Name: t.Name,
			Versions: map[string]string{}, PromiseVersions: map[string]string{}, Versioned: map[string]bool{}, Schemas: map[string]OwnSchema{},
		}}
		m.tables[key] = into
	}
	into.add(owner, t)
}

func (m *merged) add(owner *Scanner, t codec.Table) {
	switch {
	case t.Schema != m.table.Schema || t.Name != m.table.Name:
		m.fail("table %s is %s.%s on scanner %q: the names differ only in case; rename one",
			m.table.ID(), t.Schema, t.Name, owner.Name)
		return
	case t.Err != "":
		m.fail("table %s is not usable on scanner %q: %s", m.table.ID(), owner.Name, t.Err)
	case t.Arrow == nil || t.Arrow.NumFields() == 0:
		m.fail("table %s on scanner %q has no columns", m.table.ID(), owner.Name)
	default:
		m.table.Schemas[owner.Name] = OwnSchema{Arrow: t.Arrow, Version: t.SchemaVersion}
	}
	if t.Version != "" {
		m.table.Versions[owner.Name], m.table.Versioned[owner.Name] = t.Version, t.Versioned
	}
	if t.PromiseVersion != "" {
		m.table.PromiseVersions[owner.Name] = t.PromiseVersion
	}
	m.offers = append(m.offers, offer{owner, t})
}

// fail keeps the first reason.
func (m *merged) fail(format string, args ...any) {
	if m.table.Err == nil {
		m.table.Err = status.New(status.FailedPrecondition, format, args...)
	}
}

// ids lists a few partition ids.
func ids(parts []codec.Partition) string {
	const most = 5
	var names []string
	for i, p := range parts {
		if i == most {
			return strings.Join(names, ", ") + ", …"
		}
		names = append(names, p.ID)
	}
	return strings.Join(names, ", ")
}

func (m *merged) addPartition(owner *Scanner, p codec.Partition) {
	into := m.parts[p.ID]
	if into == nil {
		m.parts[p.ID] = &Partition{ID: p.ID, Owners: []*Scanner{owner}, Rows: p.Rows, Bytes: p.Bytes, Columns: p.Columns, Promise: p.Promise}
		return
	}
	if slices.Contains(into.Owners, owner) {
		m.fail("table %s: scanner %q lists partition %q twice", m.table.ID(), owner.Name, p.ID)
		return
	}
	if into.Rows >= 0 && p.Rows >= 0 && into.Rows != p.Rows {
		m.fail("table %s: partition %q has %d rows on scanner %q but %d on scanner %q: the same id must mean the same rows; rename one",
			m.table.ID(), p.ID, into.Rows, into.Owners[0].Name, p.Rows, owner.Name)
	}
	if into.Rows != p.Rows {
		p.Columns = nil // they might not be of the same rows
	}
	into.Owners = append(into.Owners, owner)
	into.Rows = agreed(into.Rows, p.Rows)
	into.Bytes = agreed(into.Bytes, p.Bytes)
	into.Columns = agreedColumns(into.Columns, p.Columns)
	if into.Promise.Text() != p.Promise.Text() {
		into.Promise = partition.Promise{}
	}
}

// agreedColumns are the statistics that replicas have in common; those that
// differ are of different states of the rows, or not true.
func agreedColumns(a, b map[string]codec.ColumnStats) map[string]codec.ColumnStats {
	out := map[string]codec.ColumnStats{}
	for name, x := range a {
		if y, ok := b[name]; ok && sameStats(x, y) {
			out[name] = x
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func sameStats(a, b codec.ColumnStats) bool {
	return a.Nulls == b.Nulls && a.Exact == b.Exact && sameBound(a.Min, b.Min) && sameBound(a.Max, b.Max)
}

func sameBound(a, b scalar.Scalar) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return scalar.Equals(a, b)
}

// agreed is the count on which replicas agree, or -1; one that does not know
// has no say.
func agreed(a, b int64) int64 {
	switch {
	case a == b || b < 0:
		return a
	case a < 0:
		return b
	}
	return -1
}

func (m *merged) finish() *Table {
	m.unify()
	for _, o := range m.offers {
		for _, p := range o.table.Partitions {
			p.Columns, p.Promise = m.statistics(o.table, p), m.promise(o.table, &p)
			m.addPartition(o.owner, p)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.parts)) {
		p := m.parts[id]
		slices.SortFunc(p.Owners, func(a, b *Scanner) int { return strings.Compare(a.Name, b.Name) })
		m.table.Partitions = append(m.table.Partitions, *p)
	}
	return m.table
}
