package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

var (
	randomSeed    = flag.Uint64("random.seed", 1, "first seed of TestRandom")
	randomWorlds  = flag.Int("random.worlds", 6, "clusters that TestRandom makes")
	randomQueries = flag.Int("random.queries", 40, "statements that TestRandom asks each cluster")
)

// TestRandom asks random statements over random tables, partitions and
// scanners at every rung, and DuckDB over the same rows. A failure is made
// smaller and printed with all that makes it happen again.
func TestRandom(t *testing.T) {
	t.Parallel()
	randomly(t, "statements", (*sqlGen).statement, ways)
}

// randomly asks random statements over random worlds in some ways each.
func randomly(t *testing.T, what string, statement func(*sqlGen) (string, bool), ways func(sql string) []way) *tally {
	d, all := newDuck(t), newTally()
	for i := range *randomWorlds {
		seed := *randomSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) }) // after the cluster's
			w := newWorld(t, d, mem, randomRecipe(seed))
			w.tally = all
			g := &sqlGen{r: draw(seed, what, 0), tables: w.tables}
			for range *randomQueries {
				sql, ordered := statement(g)
				w.askIn(t, ways(sql), sql, ordered)
			}
			adapted := counters(t, w.registry, "tributary_coordinator_adaptive_rules_total")
			all.broadcasts += int(adapted[plan.BroadcastJoin])
			all.late += int(adapted["late_filter"])
		})
	}
	all.check(t)
	return all
}

// way is how a statement is run.
type way struct {
	pushdown string
	batch    string // target in bytes: a row or so, a few rows, the default
	adaptive string
	disabled string // rules
}

func (v way) settings(t *testing.T) query.Settings {
	set := query.DefaultSettings()
	for name, value := range map[string]string{"pushdown": v.pushdown, "disabled_rules": v.disabled, "batch_bytes": v.batch, "adaptive": v.adaptive,
		"compression": codec.Compressions()[(len(v.pushdown)+len(v.batch))%len(codec.Compressions())]} {
		require.NoError(t, set.Set(name, value))
	}
	return set
}

// adaptives are the values that the setting may have.
func adaptives() (out []string) {
	for _, v := range []string{"off", "on", "always", "always", "late"} {
		if set := query.DefaultSettings(); set.Set("adaptive", v) == nil {
			out = append(out, v)
		}
	}
	return out
}

// ways has every rung once, with a batch target that depends on the statement.
func ways(sql string) (out []way) {
	for i, level := range []string{"full", "filter", "off"} {
		r := draw(uint64(i), sql, 0)
		out = append(out, way{level, pick(r, []string{"1", "200", "1048576"}), pick(r, adaptives()), drawDisabled(r)})
	}
	return out
}

// drawDisabled is a random set of rules to do without, mostly none.
func drawDisabled(r *rand.Rand) string {
	var out []string
	for some := r.IntN(3) == 0; some; some = false {
		for _, name := range slices.Concat(plan.OptionalRules(), adapt.OptionalRules()) {
			if r.IntN(4) == 0 {
				out = append(out, name)
			}
		}
	}
	return strings.Join(out, ", ")
}

// ask compares one statement at every rung.
func (w *randomWorld) ask(t *testing.T, sql string, ordered bool) {
	t.Helper()
	w.askIn(t, ways(sql), sql, ordered)
}

func (w *randomWorld) askIn(t *testing.T, ways []way, sql string, ordered bool) {
	t.Helper()
	if errors.Is(w.expect(t, sql).err, errLarge) {
		w.tally.large++
		return
	}
	for _, v := range ways {
		if f := w.try(t, v, sql, ordered); f.kind != "" {
			t.Errorf("%+v: %s\n%s: %s", v, sql, f.kind, f.text)
			w.report(t, v, sql, ordered, f)
			return
		}
	}
	if w.expect(t, sql).err != nil {
		w.tally.refused++
	} else {
		w.tally.equal++
	}
}

// wrong is how an answer is wrong; the zero value is a right one.
type wrong struct{ kind, text string }

// try runs a statement one way and compares it with the oracle.
func (w *randomWorld) try(t *testing.T, v way, sql string, ordered bool) wrong {
	want := w.expect(t, sql)
	before := streams(t, w.registry)
	got, err := run(w.coordinator, v.settings(t), sql)
	if err == nil {
		defer got.release()
	}
	switch {
	case want.err != nil && err == nil && !lazy(want.err):
		return wrong{"answered", "want error: " + want.err.Error()}
	case want.err != nil:
		return wrong{}
	case err != nil && strings.Contains(err.Error(), noBetween):
		return wrong{}
	case err != nil:
		return wrong{"refused, " + status.CodeOf(err).String(), err.Error()}
	}
	if diff := w.diff(t, want.schema, want.rows, got, ordered); diff != "" {
		return wrong{"differs", diff}
	}
	return w.way(t, v, sql, streams(t, w.registry).since(before))
}

// expected is what the oracle says to a statement.
type expected struct {
	sql    string
	schema *arrow.Schema
	rows   [][]*string
	err    error
}

// expect asks the oracle, once for all the ways of a statement.
func (w *randomWorld) expect(t *testing.T, sql string) expected {
	if w.last.sql == sql {
		return w.last
	}
	w.last = expected{sql: sql}
	res, err := w.oracle(sql, w.inputs)
	if err != nil {
		w.last.err = err
		return w.last
	}
	defer res.release()
	w.last.schema, w.last.rows = res.schema, w.duck.text(t, res)
	return w.last
}

// way checks that a right answer came the intended way.
func (w *randomWorld) way(t *testing.T, v way, sql string, seen paths) wrong {
	w.tally.add(v.pushdown, seen)
	if !strings.HasPrefix(sql, "SELECT") {
		return wrong{} // no plan to explain
	}
	explain := answer(t, w.duck, w.coordinator, v.settings(t), "EXPLAIN "+sql)
	w.tally.plan(explain)
	if fault := pathFault(v, explain, seen); fault != "" {
		return wrong{"wrong path", fault + "\n" + explain}
	}
	return wrong{}
}

// determined reports that the answer does not depend on the order of the rows.
func (w *randomWorld) determined(t *testing.T, sql string, ordered bool) bool {
	want := w.expect(t, sql)
	if want.err != nil {
		return true
	}
	again, err := w.oracle(sql, w.reversed)
	if err != nil {
		return false
	}
	defer again.release()
	return w.diff(t, want.schema, want.rows, again, ordered) == ""
}

// noBetween is what DuckDB says where its optimizer has made BETWEEN of lists, or of two comparisons with lists,
// a filter; so whether it says so depends on the plan.
const noBetween = "Invalid type for BETWEEN"

// lazy: DuckDB raises what a value causes, or a type that it has no BETWEEN for, even on rows that a predicate it looks
// at later removes. Ours may answer then, but not the other way round.
func lazy(err error) bool {
	for _, text := range []string{"Out of Range Error", "Conversion Error", noBetween} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// maxRows bounds the results that are compared: joins may explode.
const maxRows = 20_000

var errLarge = fmt.Errorf("more than %d rows", maxRows)

// oracle answers a statement; errLarge when there are too many rows.
func (w *randomWorld) oracle(sql string, inputs map[string]engine.Input) (*result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := w.duck.pool.Run(ctx, engine.Query{SQL: sql, Inputs: inputs, Views: w.views})
	if err != nil {
		return nil, err
	}
	r := &result{schema: res.Schema()}
	for rows := int64(0); ; {
		b, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r, res.Close()
		}
		if err == nil {
			if rows += b.NumRows(); rows > maxRows {
				b.Release()
				err = errLarge
			}
		}
		if err != nil {
			r.release()
			return nil, errors.Join(err, res.Close())
		}
		r.batches = append(r.batches, b)
	}
}

// diff says how a result differs from the rows wanted, "" for not at all.
func (w *randomWorld) diff(t *testing.T, schema *arrow.Schema, want [][]*string, got *result, ordered bool) string {
	if !sameFields(schema, got.schema) {
		return fmt.Sprintf("got  %s\nwant %s", got.schema, schema)
	}
	for _, b := range got.batches {
		if !sameFields(got.schema, b.Schema()) {
			return fmt.Sprintf("promised %s\nsent %s", got.schema, b.Schema())
		}
	}
	have := w.duck.text(t, got)
	want = append([][]*string(nil), want...)
	if !ordered {
		sortTyped(have, schema)
		sortTyped(want, schema)
	}
	texts := func() string {
		return fmt.Sprintf("got  %d rows %s\nwant %d rows %s", len(have), show(have), len(want), show(want))
	}
	if len(have) != len(want) {
		return texts()
	}
	for i := range want {
		for j, f := range schema.Fields() {
			if !sameCell(have[i][j], want[i][j], f.Type) {
				return fmt.Sprintf("row %d column %d: %s instead of %s\n%s", i, j, show([][]*string{have[i]}), show([][]*string{want[i]}), texts())
			}
		}
	}
	return ""
}

// sortTyped orders rows by their texts, doubles by their leading digits.
func sortTyped(rows [][]*string, schema *arrow.Schema) {
	key := func(v *string, column int) string {
		if v == nil {
			return ""
		}
		f, err := strconv.ParseFloat(*v, 64)
		if strings.HasSuffix(*v, "nan") {
			f, err = math.NaN(), nil
		}
		if err == nil && arrow.IsFloating(schema.Field(column).Type.ID()) {
			return fmt.Sprintf("=%.8g", f+0)
		}
		return "=" + *v
	}
	slices.SortStableFunc(rows, func(a, b []*string) int {
		for i := range a {
			if c := strings.Compare(key(a[i], i), key(b[i], i)); c != 0 {
				return c
			}
		}
		return 0
	})
}

// sameFields compares names and types.
func sameFields(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, f := range a.Fields() {
		if g := b.Field(i); f.Name != g.Name || !arrow.TypeEqual(f.Type, g.Type) {
			return false
		}
	}
	return true
}

// sameCell compares values exactly, doubles almost.
func sameCell(got, want *string, t arrow.DataType) bool {
	c, name := sqlCase{}, ""
	if arrow.IsFloating(t.ID()) {
		name = "DOUBLE"
	}
	return c.same(got, want, name)
}
