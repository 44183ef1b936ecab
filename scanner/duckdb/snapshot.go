package duckdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	promises "github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
)

// snapshot is a table as last seen. It does not change.
type snapshot struct {
	partitions []*partition // by id
	schema     *arrow.Schema
	err        error // why the table is unusable
	previews   previews
	reductions reductions
}

// partition is a partition as last seen.
type partition struct {
	id      string
	origins []*described
	// stats are nil when not all of it has some.
	stats map[string]codec.ColumnStats
	// promised follows from the names of directories.
	promised promises.Promise
	// scans counts those that might be answered from memory; loading is held while
	// the rows are read into it.
	scans   atomic.Int64
	loading sync.Mutex
}

func (p *partition) rows() int64 {
	n := int64(0)
	for _, d := range p.origins {
		if d.rows < 0 {
			return -1
		}
		n += d.rows
	}
	return n
}

// bytes is the size of the files; that of a table in a database is unknown.
func (p *partition) bytes() int64 {
	n := int64(0)
	for _, d := range p.origins {
		if d.format == formatTable {
			return -1
		}
		n += d.stamp.size
	}
	return n
}

func totalRows(partitions []*partition) int64 {
	n := int64(0)
	for _, p := range partitions {
		if p.rows() < 0 {
			return -1
		}
		n += p.rows()
	}
	return n
}

// located is a partition whose files are known but not read.
type located struct {
	id      string
	origins []origin
	stamps  []stamp
}

// refresh looks at the files and reads those that are new or changed. When
// nothing changed it costs a stat per file.
func (s *Source) refresh(ctx context.Context) (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.locate()
	if err != nil {
		return nil, err
	}
	if !s.snap.matches(found) {
		snap := s.build(ctx, found)
		if err := ctx.Err(); err != nil { // what was seen may be half read
			return nil, engineError(ctx, "")
		}
		if s.snap != nil {
			s.cfg.Engine.keep.forget(s.snap.partitions)
		}
		s.snap = snap
	}
	return s.snap, s.snap.err
}

// seen is the table as last seen, nil before the first look.
func (s *Source) seen() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snap
}

// locate lists the partitions, sorted by id, with the stamps of their files.
func (s *Source) locate() ([]located, error) {
	out, err := s.locateGlob()
	if err != nil {
		return nil, err
	}
	for _, p := range s.cfg.Partitions {
		l := located{id: p.ID, origins: []origin{{path: p.Database, table: p.Table}}}
		if p.Database == "" {
			files, err := expand(p.Files)
			if err != nil {
				return nil, status.Wrap(status.NotFound, err, "partition %q", p.ID)
			}
			l.origins = nil
			for _, f := range files {
				l.origins = append(l.origins, origin{path: f})
			}
		}
		out = append(out, l)
	}
	for i := range out {
		if err := out[i].stamp(); err != nil {
			return nil, status.Wrap(status.FailedPrecondition, err, "partition %q", out[i].id)
		}
	}
	return sorted(out)
}

func (s *Source) locateGlob() ([]located, error) {
	if len(s.cfg.Glob) == 0 {
		return nil, nil
	}
	files, err := expand(s.cfg.Glob)
	if err != nil {
		return nil, err
	}
	out := make([]located, len(files))
	for i, id := range partitionIDs(files) {
		out[i] = located{id: s.cfg.IDPrefix + id, origins: []origin{{path: files[i]}}}
	}
	return out, nil
}

func (l *located) stamp() error {
	for _, o := range l.origins {
		st, err := stampOf(o.path)
		if err != nil {
			return err
		}
		l.stamps = append(l.stamps, st)
	}
	return nil
}

func sorted(all []located) ([]located, error) {
	slices.SortFunc(all, func(a, b located) int { return strings.Compare(a.id, b.id) })
	for i := 1; i < len(all); i++ {
		if all[i].id == all[i-1].id {
			return nil, status.New(status.InvalidArgument, "two partitions have the id %q: a file and a configured one", all[i].id)
		}
	}
	return all, nil
}

// matches reports that the snapshot is of exactly these files.
func (snap *snapshot) matches(found []located) bool {
	return snap != nil && slices.EqualFunc(snap.partitions, found, func(p *partition, l located) bool {
		return p.id == l.id && len(p.origins) == len(l.origins) && slices.EqualFunc(p.origins, l.stamps,
			func(d *described, st stamp) bool { return d.current(st) }) &&
			slices.EqualFunc(p.origins, l.origins, func(d *described, o origin) bool { return d.origin == o })
	})
}

// current reports whether what is known of a file of this stamp can stay.
func (d *described) current(st stamp) bool {
	return d.stamp == st && (!d.unsettled || d.format != formatParquet || st.settling(time.Now()))
}

// build reads what is not known yet.
func (s *Source) build(ctx context.Context, found []located) *snapshot {
	known := map[origin]*described{}
	if s.snap != nil {
		for _, p := range s.snap.partitions {
			for _, d := range p.origins {
				known[d.origin] = d
			}
		}
	}
	snap := &snapshot{}
	var reading sync.WaitGroup
	for _, l := range found {
		p := &partition{id: l.id, origins: make([]*described, len(l.origins))}
		for i, o := range l.origins {
			if d := known[o]; d != nil && d.current(l.stamps[i]) {
				p.origins[i] = d
				continue
			}
			s.cfg.Engine.describing <- struct{}{}
			reading.Go(func() {
				defer func() { <-s.cfg.Engine.describing }()
				p.origins[i] = s.cfg.Engine.describeOrigin(ctx, o, l.stamps[i])
			})
		}
		snap.partitions = append(snap.partitions, p)
	}
	reading.Wait()
	if !s.cfg.PlainPaths {
		snap.addHive()
	}
	snap.err = snap.agree()
	return snap
}

// agree makes the table's columns from those of all origins.
func (snap *snapshot) agree() error {
	u := unifier{index: map[string]int{}}
	for _, p := range snap.partitions {
		for _, d := range p.origins {
			if d.err != nil {
				return status.Wrap(status.FailedPrecondition, d.err, "partition %q", p.id)
			}
			for _, c := range d.all() {
				if err := u.add(c, place{p.id, d.origin}); err != nil {
					return err
				}
			}
		}
	}
	snap.schema = arrow.NewSchema(u.fields, nil)
	for _, p := range snap.partitions {
		p.stats, p.promised = p.statistics(u.fields), p.promise(u.fields)
	}
	return nil
}

// place is where a column was seen.
type place struct {
	partition string
	origin    origin
}

func (p place) String() string { return fmt.Sprintf("partition %q (%s)", p.partition, p.origin) }

// unifier finds the columns that hold those of all partitions.
type unifier struct {
	fields []arrow.Field
	// first has the column that gave a field its type, and its place.
	first []column
	at    []place
	index map[string]int // by lower-case name
}

func (u *unifier) add(c column, at place) error {
	i, known := u.index[strings.ToLower(c.name)]
	if !known {
		u.index[strings.ToLower(c.name)] = len(u.fields)
		u.fields = append(u.fields, c.field())
		u.first, u.at = append(u.first, c), append(u.at, at)
		return nil
	}
	f := &u.fields[i]
	joined, ok := u.join(*f, c, u.first[i])
	if c.physical != uuid {
		f.Metadata = arrow.Metadata{}
	}
	switch {
	case f.Name != c.name:
		return status.New(status.FailedPrecondition, "column %q of %s is %q in %s: the names differ only in case; rename one",
			c.name, at, f.Name, u.at[i])
	case !ok:
		return status.New(status.FailedPrecondition, "column %q is %s in %s but %s in %s: no type holds both exactly; cast one where it is written",
			c.name, c.physical, at, u.first[i].physical, u.at[i])
	case !arrow.TypeEqual(joined, f.Type):
		f.Type, u.first[i], u.at[i] = joined, c, at
	}
	return nil
}

// join is the type that holds both. Two ENUMs with other members are text: all
// of them together might not fit the index type.
func (u *unifier) join(f arrow.Field, c, first column) (arrow.DataType, bool) {
	if d, enum := f.Type.(*arrow.DictionaryType); enum && c.physical != first.physical {
		return widen.Common(d.ValueType, c.arrow)
	}
	return widen.Common(f.Type, c.arrow)
}
