package run

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/eval"
)

// joinRows is how many rows go through the lookups at once, and how many matches
// are brought together.
const joinRows = 16 << 10

// joiner looks rows up in the relations of a spec, one after the other, and passes
// the matches on: first what the conjuncts after the lookups let through.
type joiner struct {
	consumer
	mem    memory.Allocator
	levels []*level
	output gathering
	filter *eval.FilterProgram // nil without conjuncts
}

// level is one lookup. A row of what goes through it is a row of the batch and one
// of each relation before.
type level struct {
	spec  pushdown.Lookup
	hash  uint64
	keys  gathering
	of    []*eval.Program
	index *agg.Index // made for the first rows
	found []uint32
	out   tuples
}

// tuples are rows: of the batch, nil for all of it in order, and of the relations.
type tuples struct {
	n     int
	rows  []int32
	match [][]int32
}

// gathering picks columns of tuples.
type gathering struct {
	schema *arrow.Schema
	// from is 0 for the batch, else the lookup's number plus one; at the column.
	from, at []int
}

// newJoiner puts the lookups of spec before what follows them.
func newJoiner(spec pushdown.Spec, input *arrow.Schema, opts Options) (*joiner, error) {
	j := &joiner{mem: opts.Alloc}
	for i, l := range spec.Lookups {
		before := spec
		before.Lookups = spec.Lookups[:i]
		v, err := newLevel(l, &before, input, opts)
		if err != nil {
			return nil, err
		}
		v.out.match = make([][]int32, i+1)
		j.levels = append(j.levels, v)
	}
	_, after := spec.FilterParts()
	rest := spec
	rest.Lookups, rest.Filter = nil, after
	j.output = gather(&spec, input, rest.InputColumns())
	if len(after) > 0 {
		var err error
		if j.filter, err = eval.CompileFilter(after, j.output.schema); err != nil {
			return nil, err
		}
	}
	var err error
	j.consumer, err = newGrouper(rest, j.output.schema, opts)
	return j, err
}

func newLevel(l pushdown.Lookup, before *pushdown.Spec, input *arrow.Schema, opts Options) (*level, error) {
	keys := pushdown.Spec{Filter: l.Keys}
	v := &level{spec: l, hash: opts.HashMask, keys: gather(before, input, keys.InputColumns())}
	for _, k := range l.Keys {
		p, err := eval.Compile(k, v.keys.schema)
		if err != nil {
			return nil, err
		}
		v.of = append(v.of, p)
	}
	return v, nil
}

// gather finds columns among those of the input and of the spec's lookups.
func gather(spec *pushdown.Spec, input *arrow.Schema, columns []pushdown.Column) gathering {
	var g gathering
	var fields []arrow.Field
	for _, c := range columns {
		from, at := place(spec, input, c.Name)
		g.from, g.at = append(g.from, from), append(g.at, at)
		fields = append(fields, c.Field())
	}
	g.schema = arrow.NewSchema(fields, nil)
	return g
}

// place is where a column of a valid spec comes from.
func place(spec *pushdown.Spec, input *arrow.Schema, name string) (from, at int) {
	for i, l := range spec.Lookups {
		if at := slices.IndexFunc(l.Columns, func(c pushdown.Column) bool { return c.Name == name }); at >= 0 {
			return i + 1, at
		}
	}
	return 0, input.FieldIndices(name)[0]
}

// push sends the selected rows of a batch through the lookups.
func (j *joiner) push(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
	n := int(batch.NumRows())
	if sel != nil {
		n = len(sel)
	}
	var out []arrow.RecordBatch
	for from := 0; from < n; from += joinRows {
		ready, err := piece(batch, sel, from, min(from+joinRows, n), func(b arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
			t := tuples{n: int(b.NumRows()), rows: sel}
			if sel != nil {
				t.n = len(sel)
			}
			return j.look(0, b, t)
		})
		out = append(out, ready...)
		if err != nil {
			agg.Release(out)
			return nil, err
		}
	}
	return out, nil
}

// look sends tuples through the lookups from a level on, some matches at a time.
func (j *joiner) look(at int, batch arrow.RecordBatch, t tuples) (ready []arrow.RecordBatch, err error) {
	if at == len(j.levels) {
		return j.pass(batch, t)
	}
	v := j.levels[at]
	if err := v.find(batch, t, j.levels, j.mem); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			agg.Release(ready)
			ready = nil
		}
	}()
	for from, skip := 0, 0; from < t.n; {
		from, skip = v.collect(t, from, skip)
		if v.out.n == 0 {
			continue
		}
		more, err := j.look(at+1, batch, v.out)
		ready = append(ready, more...)
		if err != nil {
			return ready, err
		}
	}
	return ready, nil
}

// find looks up the keys of tuples.
func (v *level) find(batch arrow.RecordBatch, t tuples, levels []*level, mem memory.Allocator) error {
	if v.index == nil {
		if err := v.build(); err != nil {
			return err
		}
	}
	v.found = slices.Grow(v.found[:0], t.n)[:t.n]
	if v.spec.Relation == nil || v.index == nil {
		for i := range v.found {
			v.found[i] = agg.Missing
		}
		return nil
	}
	rows, err := v.keys.take(batch, t, levels, mem)
	if err != nil {
		return err
	}
	defer rows.Release()
	keys := make([]arrow.Array, 0, len(v.of))
	defer func() {
		for _, k := range keys {
			k.Release()
		}
	}()
	for _, p := range v.of {
		k, err := p.Eval(rows, mem)
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	return v.index.Find(v.found, keys)
}

// build indexes the relation.
func (v *level) build() (err error) {
	if v.spec.Relation == nil || v.spec.Relation.Rows().NumRows() == 0 {
		return nil
	}
	columns := make([]arrow.Array, len(v.spec.On))
	for i, at := range v.spec.On {
		columns[i] = v.spec.Relation.Rows().Column(at)
	}
	v.index, err = agg.NewIndex(columns, v.hash)
	return err
}

// collect makes out the matches of the tuples from one on, of which some have been
// collected before, and returns where to go on.
func (v *level) collect(t tuples, from, skip int) (next, skipped int) {
	out := &v.out
	out.rows = slices.Grow(out.rows[:0], joinRows)
	for i := range out.match {
		out.match[i] = slices.Grow(out.match[i][:0], joinRows)
	}
	own := len(out.match) - 1
	for ; from < t.n; from++ {
		if v.found[from] == agg.Missing {
			continue
		}
		rows := v.index.Rows(v.found[from])[skip:]
		if room := joinRows - len(out.rows); len(rows) > room {
			rows = rows[:room]
		}
		for _, r := range rows {
			out.rows = append(out.rows, t.row(from))
			for i, m := range t.match {
				out.match[i] = append(out.match[i], m[from])
			}
			out.match[own] = append(out.match[own], int32(r))
		}
		skip += len(rows)
		if len(out.rows) == joinRows {
			break
		}
		skip = 0
	}
	out.n = len(out.rows)
	return from, skip
}

func (t *tuples) row(i int) int32 {
	if t.rows == nil {
		return int32(i)
	}
	return t.rows[i]
}

// take gathers the columns of tuples; the caller releases them.
func (g *gathering) take(batch arrow.RecordBatch, t tuples, levels []*level, mem memory.Allocator) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, len(g.at))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, at := range g.at {
		c, err := g.column(i, at, batch, t, levels, mem)
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return array.NewRecordBatch(g.schema, columns, int64(t.n)), nil
}

func (g *gathering) column(i, at int, batch arrow.RecordBatch, t tuples, levels []*level, mem memory.Allocator) (arrow.Array, error) {
	if n := g.from[i]; n > 0 {
		return eval.TakeArray(levels[n-1].spec.Relation.Rows().Column(at), t.match[n-1], mem)
	}
	if err := checkColumn(batch, at, g.schema.Field(i)); err != nil {
		return nil, err
	}
	if t.rows != nil {
		return eval.TakeArray(batch.Column(at), t.rows, mem)
	}
	batch.Column(at).Retain()
	return batch.Column(at), nil
}

// pass hands matches on.
func (j *joiner) pass(batch arrow.RecordBatch, t tuples) ([]arrow.RecordBatch, error) {
	rows, err := j.output.take(batch, t, j.levels, j.mem)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	if j.filter == nil {
		return j.consumer.push(rows, nil)
	}
	sel, all, err := j.filter.Select(rows, j.mem)
	switch {
	case err != nil:
		return nil, err
	case all:
		return j.consumer.push(rows, nil)
	case len(sel) == 0:
		return nil, nil
	}
	return j.consumer.push(rows, sel)
}
