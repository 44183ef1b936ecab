// Package sourcetest is the suite that every source passes: what a source
// declares that it can do must equal the reference interpreter, row for row.
package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

// Harness is the source under test.
type Harness struct {
	// Make returns a source with the given partitions, named "0", "1", …; cleanup
	// may be nil.
	Make func(t *rapid.T, schema *arrow.Schema, partitions [][]arrow.RecordBatch) (source scanner.Source, cleanup func())
	// Type says whether the source can have columns of a type; nil is all.
	Type func(arrow.DataType) bool
	// Holds says whether the source can hold a value of a type, as
	// pushdowntest.ValueAt gives it; nil is all.
	Holds func(arrow.DataType, any) bool
}

const specsPerTable = 8

// Run tests a source.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.Type == nil {
		h.Type = func(arrow.DataType) bool { return true }
	}
	if h.Holds == nil {
		h.Holds = func(arrow.DataType, any) bool { return true }
	}
	rapid.Check(t, h.check)
}

// world is a source and what it holds.
type world struct {
	t          *rapid.T
	h          Harness
	schema     *arrow.Schema
	partitions [][]arrow.RecordBatch
	source     scanner.Source
}

func (h Harness) world(t *rapid.T) (*world, func()) {
	w := &world{t: t, h: h, schema: h.schema(t)}
	mem := memory.NewGoAllocator()
	for range rapid.IntRange(1, 3).Draw(t, "partitions") {
		var part []arrow.RecordBatch
		for _, b := range pushdowntest.Batches(t, mem, w.schema, 30) {
			part = append(part, w.clean(b))
		}
		w.partitions = append(w.partitions, part)
	}
	source, cleanup := h.Make(t, w.schema, w.partitions)
	w.source = source
	return w, func() {
		if cleanup != nil {
			cleanup()
		}
		for _, p := range w.partitions {
			pushdowntest.ReleaseAll(p)
		}
	}
}

func (h Harness) schema(t *rapid.T) *arrow.Schema {
	types := slices.DeleteFunc(pushdowntest.Types(), func(dt arrow.DataType) bool { return !h.Type(dt) })
	chosen := rapid.SliceOfN(rapid.SampledFrom(types), 3, 8).Draw(t, "types")
	fields := make([]arrow.Field, len(chosen))
	for i, dt := range chosen {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// clean replaces what the source cannot hold by NULL.
func (w *world) clean(b arrow.RecordBatch) arrow.RecordBatch {
	rows := pushdowntest.Rows(b)
	changed := false
	for _, row := range rows {
		for c, v := range row {
			if v != nil && !w.h.Holds(pushdown.ValueType(w.schema.Field(c).Type), v) {
				row[c], changed = nil, true
			}
		}
	}
	if !changed {
		return b
	}
	defer b.Release()
	return pushdowntest.Batch(memory.NewGoAllocator(), w.schema, rows...)
}

// check draws a table.
func (h Harness) check(t *rapid.T) {
	w, cleanup := h.world(t)
	defer cleanup()
	w.describes()
	if rapid.IntRange(0, 9).Draw(t, "manners") == 0 {
		w.manners()
	}
	w.specs()
}

// specs compares random specs with the reference.
func (w *world) specs() {
	t := w.t
	caps := w.source.Capabilities()
	for range specsPerTable {
		whole := pushdowntest.Spec(t, w.schema)
		whole.Partitions = w.somePartitions()
		spec := pushdown.Split(whole.WithCarrier(w.schema), caps).Remote
		if err := spec.Validate(w.schema); err != nil {
			t.Fatalf("the suite made a bad spec: %v", err)
		}
		if w.holds(&spec) {
			w.compare(spec)
		}
	}
}

func (w *world) somePartitions() []string {
	n := rapid.IntRange(1, len(w.partitions)).Draw(w.t, "scanned")
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	return ids
}

// holds reports that the source can have every literal of a spec.
func (w *world) holds(spec *pushdown.Spec) bool {
	ok := true
	look := func(e pushdown.Expr) {
		pushdown.Walk(e, func(e pushdown.Expr) bool {
			switch e := e.(type) {
			case pushdown.Literal:
				ok = ok && w.holdsLiteral(e)
			case pushdown.In:
				for _, v := range e.Values {
					ok = ok && w.holdsLiteral(v)
				}
			}
			return ok
		})
	}
	for _, e := range spec.Filter {
		look(e)
	}
	for _, k := range spec.GroupBy {
		look(k.Expr)
	}
	for _, a := range spec.Aggregates {
		if a.Arg != nil {
			look(a.Arg)
		}
		if a.Filter != nil {
			look(a.Filter)
		}
	}
	return ok
}

func (w *world) holdsLiteral(l pushdown.Literal) bool {
	if !l.Value.IsValid() {
		return true
	}
	v, err := pushdowntest.Eval(l, nil)
	return err == nil && w.h.Holds(l.Type(), v)
}

// compare runs one spec. Where the reference raises, so may the source; it need
// not, because an engine may simplify the expression.
func (w *world) compare(spec pushdown.Spec) {
	var rows []arrow.RecordBatch
	for _, id := range spec.Partitions {
		rows = append(rows, w.partitions[index(id)]...)
	}
	want, wantErr := pushdowntest.Reference(spec, rows...)
	got, err := w.read(spec)
	defer pushdowntest.ReleaseAll(got)
	switch {
	case wantErr != nil && err != nil:
		if status.CodeOf(err) != status.OutOfRange {
			w.t.Fatalf("%s: the source fails with %v instead of %v", spec.String(), err, wantErr)
		}
	case wantErr == nil && err != nil:
		w.t.Fatalf("%s: %v", spec.String(), err)
	case wantErr == nil:
		w.t.Logf("spec: %s", spec.String())
		pushdowntest.RequireResult(w.t, spec, want, got...)
	}
}

func index(id string) int64 {
	n, _ := new(big.Int).SetString(id, 10)
	return n.Int64()
}

func (w *world) read(spec pushdown.Spec) (out []arrow.RecordBatch, err error) {
	ctx := context.Background()
	r, err := w.source.Scan(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sent := int64(0)
	for {
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		out = append(out, batch)
		sent += batch.NumRows()
	}
	if n := r.RowsScanned(); n < 0 || !spec.Grouped() && n < sent {
		w.t.Fatalf("%d rows scanned where %d were sent", n, sent)
	}
	return out, nil
}

// describes checks the schema and the partitions.
func (w *world) describes() {
	ctx := context.Background()
	schema, err := w.source.Schema(ctx)
	if err != nil {
		w.t.Fatalf("schema: %v", err)
	}
	if !schema.Equal(w.schema) {
		w.t.Fatalf("schema is\n%s\nwanted\n%s", schema, w.schema)
	}
	partitions, err := w.source.Partitions(ctx)
	if err != nil || len(partitions) != len(w.partitions) {
		w.t.Fatalf("partitions: %v, %v", partitions, err)
	}
	for i, p := range partitions {
		rows := int64(0)
		for _, b := range w.partitions[i] {
			rows += b.NumRows()
		}
		if p.ID != fmt.Sprint(i) || p.Rows >= 0 && p.Rows != rows || p.Rows < -1 || p.Bytes < -1 {
			w.t.Fatalf("partition %d is %+v, wanted %d rows", i, p, rows)
		}
	}
}

// manners checks what a source does outside a plain scan.
func (w *world) manners() {
	spec := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit}
	for _, f := range w.schema.Fields() {
		spec.Columns = append(spec.Columns, pushdown.Column{Name: f.Name, DataType: f.Type})
	}
	w.closesEarly(spec)
	w.stopsWhenCancelled(spec)
	spec.Partitions = []string{"no such partition"}
	if _, err := w.read(spec); status.CodeOf(err) != status.NotFound {
		w.t.Fatalf("an unknown partition gives %v, not NotFound", err)
	}
}

func (w *world) closesEarly(spec pushdown.Spec) {
	r, err := w.source.Scan(context.Background(), spec)
	if err != nil {
		w.t.Fatalf("scan: %v", err)
	}
	if batch, err := r.Next(context.Background()); err == nil {
		batch.Release()
	}
	if err := r.Close(); err != nil {
		w.t.Fatalf("close: %v", err)
	}
}

func (w *world) stopsWhenCancelled(spec pushdown.Spec) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := w.source.Scan(ctx, spec)
	if err != nil {
		w.t.Fatalf("scan: %v", err)
	}
	defer r.Close()
	cancel()
	for {
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			if status.CodeOf(err) != status.Canceled {
				w.t.Fatalf("a cancelled scan gives %v", err)
			}
			return
		}
		batch.Release()
	}
}
