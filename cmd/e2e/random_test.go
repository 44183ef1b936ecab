package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query"
)

var (
	randomSeed    = flag.Uint64("random.seed", 1, "first seed of TestRandom")
	randomWorlds  = flag.Int("random.worlds", 6, "clusters that TestRandom makes")
	randomQueries = flag.Int("random.queries", 40, "statements that TestRandom asks each cluster")
)

// TestRandom asks random statements over random tables, partitions and
// scanners at every rung, and DuckDB over the same rows.
func TestRandom(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for i := range *randomWorlds {
		seed := *randomSeed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := newRand(seed)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) }) // after the cluster's
			w := newRandomWorld(t, r, d, mem)
			g := &sqlGen{r: r, tables: w.tables}
			for range *randomQueries {
				sql, ordered := g.statement()
				w.ask(t, sql, ordered)
			}
		})
	}
}

// ask compares one statement at every rung.
func (w *randomWorld) ask(t *testing.T, sql string, ordered bool) {
	t.Helper()
	want, wantErr := w.oracle(sql)
	var rows [][]*string
	if wantErr == nil {
		defer want.release()
		rows = w.duck.text(t, want)
	}
	for _, level := range []string{"full", "filter", "off"} {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("pushdown", level))
		got, err := run(w.coordinator, set, sql)
		if err != nil || wantErr != nil {
			if (err == nil) != (wantErr == nil) && (err != nil || !lazy(wantErr)) {
				t.Errorf("pushdown %s: %s\ngot error:  %v\nwant error: %v", level, sql, err, wantErr)
			}
			if err == nil {
				got.release()
			}
			continue
		}
		if diff := w.diff(t, want.schema, rows, got, ordered); diff != "" {
			t.Errorf("pushdown %s: %s\n%s", level, sql, diff)
		}
		got.release()
	}
}

// lazy: DuckDB raises what a value causes even on rows that a predicate it looks
// at later removes. Ours may answer then, but not the other way round.
func lazy(err error) bool {
	for _, text := range []string{"Out of Range Error", "Conversion Error"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

func (w *randomWorld) oracle(sql string) (*result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	res, err := w.duck.pool.Run(ctx, engine.Query{SQL: sql, Inputs: w.inputs, Views: w.views})
	if err != nil {
		return nil, err
	}
	r := &result{schema: res.Schema()}
	for {
		b, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r, res.Close()
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
	texts := fmt.Sprintf("got  %d rows %s\nwant %d rows %s", len(have), show(have), len(want), show(want))
	if len(have) != len(want) {
		return texts
	}
	for i := range want {
		for j, f := range schema.Fields() {
			if !sameCell(have[i][j], want[i][j], f.Type) {
				return fmt.Sprintf("row %d column %d: %s instead of %s\n%s", i, j, show([][]*string{have[i]}), show([][]*string{want[i]}), texts)
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
