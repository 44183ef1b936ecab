package plan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// fakeBinder answers every statement alike.
type fakeBinder struct {
	bound         *Bound
	err, syncFail error
}

func (b fakeBinder) Sync(context.Context, *catalog.Snapshot) error { return b.syncFail }
func (b fakeBinder) Bind(context.Context, string) (*Bound, error)  { return b.bound, b.err }
func (b fakeBinder) plan(t *testing.T, s *catalog.Snapshot) (*Plan, error) {
	return New(b).Plan(t.Context(), "SELECT * FROM broken", s, Options{})
}

func oneInteger() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}}, nil)
}

func TestPlanErrors(t *testing.T) {
	t.Parallel()
	missing := status.New(status.InvalidArgument, "Catalog Error: Table with name broken does not exist!")
	_, err := fakeBinder{syncFail: errors.New("no engine")}.plan(t, testSnapshot(t))
	require.EqualError(t, err, "no engine")
	_, err = fakeBinder{err: missing}.plan(t, testSnapshot(t))
	require.Equal(t, missing, err)

	snap := testSnapshot(t)
	snap.Tables["main.broken"] = &catalog.Table{Schema: "main", Name: "Broken", Err: errors.New("partition 3 has another type of column a")}
	_, err = fakeBinder{err: missing}.plan(t, snap)
	require.EqualError(t, err, "table main.Broken cannot be read: partition 3 has another type of column a")
	require.Equal(t, status.FailedPrecondition, status.CodeOf(err))

	snap = testSnapshot(t)
	snap.Missing = []*catalog.Scanner{{Addr: "far:1", Err: errors.New("connection refused")}}
	_, err = fakeBinder{err: missing}.plan(t, snap)
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.ErrorContains(t, err, "far:1")
	_, err = fakeBinder{err: errors.New("syntax")}.plan(t, snap)
	require.EqualError(t, err, "syntax")

	_, err = fakeBinder{bound: &Bound{PlanJSON: []byte("not json"), Schema: oneInteger()}}.plan(t, testSnapshot(t))
	require.Error(t, err)
}

// TestUnusableTables: whatever rung a plan takes, it fails when a table cannot
// be read completely.
func TestUnusableTables(t *testing.T) {
	t.Parallel()
	binder := newEngineBinder(t)
	for _, sql := range []string{"SELECT count(*) FROM u", "SELECT a FROM u TABLESAMPLE 50%"} {
		snap := testSnapshot(t)
		snap.Tables["main.u"].Err = errors.New("schemas differ")
		_, err := New(binder).Plan(t.Context(), sql, snap, Options{})
		require.ErrorContains(t, err, "table main.u cannot be read: schemas differ", sql)

		snap = testSnapshot(t)
		snap.Missing = []*catalog.Scanner{{Addr: "far:1", Err: errors.New("connection refused")}}
		_, err = New(binder).Plan(t.Context(), sql, snap, Options{})
		require.Equal(t, status.Unavailable, status.CodeOf(err), sql)

		snap = testSnapshot(t)
		snap.Scanners["s1"].Err = errors.New("connection refused")
		_, err = New(binder).Plan(t.Context(), sql, snap, Options{})
		require.ErrorContains(t, err, "partition p0 of table main.u", sql)
	}
	snap := testSnapshot(t)
	snap.Missing = []*catalog.Scanner{{Addr: "far:1", Err: errors.New("connection refused")}}
	_, err := New(binder).Plan(t.Context(), "SELECT 1", snap, Options{})
	require.NoError(t, err)
}

func TestPlanKinds(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	cases := map[string]PlanKind{
		"SELECT * FROM u":                              PassThrough,
		"SELECT s, a AS b, a FROM u LIMIT 3":           PassThrough,
		"SELECT v FROM u WHERE a > 3 LIMIT 3 OFFSET 1": PassThrough,
		"SELECT di, la, l, h FROM t":                   PassThrough,
		"SELECT x FROM e":                              PassThrough,
		"SELECT a + 1 FROM u":                          Residual,
		"SELECT a FROM u WHERE reverse(s) = 'X'":       Residual,
		"SELECT a FROM u ORDER BY a LIMIT 3":           Residual,
		"SELECT DISTINCT a FROM u":                     Residual,
		"SELECT h::HUGEINT FROM t":                     Residual,
		"SELECT 1 FROM u":                              Residual,
		"SELECT u.a FROM u, t":                         Residual,
		"SELECT * FROM range(3)":                       Residual,
		"SELECT a FROM u TABLESAMPLE 50%":              Original,
		"SELECT a FROM u TABLESAMPLE 50% WHERE v IN (1.5, 'nan', 'inf', '-inf')": Original,
		"SELECT * FROM duckdb_keywords()":                                        Local,
		"SELECT count(*) FROM information_schema.columns":                        Local,
		"SELECT a FROM u WHERE a IN (SELECT a FROM t USING SAMPLE 3)":            Original,
	}
	for sql, want := range cases {
		p, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{})
		require.NoError(t, err, sql)
		require.Equal(t, want, p.Kind, "%s\n%s", sql, p.Explain())
		require.Equal(t, uint64(1), p.Snapshot)
		require.Equal(t, PushdownFull, p.Options.Pushdown)
		require.Equal(t, want == Original, len(p.Reasons) > 0, sql)
	}
	p, err := fakeBinder{bound: &Bound{Schema: oneInteger()}}.plan(t, env.snap)
	require.NoError(t, err)
	require.Equal(t, Local, p.Kind, "a statement without a plan")
}

func TestTablesRead(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	bound, err := env.binder.Bind(t.Context(), "WITH q AS (SELECT a FROM u) SELECT * FROM q, t WHERE t.a IN (SELECT a FROM u) AND EXISTS (FROM e)")
	require.NoError(t, err)
	read, err := tablesRead(bound.PlanJSON, env.snap)
	require.NoError(t, err)
	names := mapSlice(read.federated, (*catalog.Table).ID)
	require.Equal(t, []string{"main.e", "main.t", "main.u"}, names)
	require.Empty(t, read.system)

	delete(env.snap.Tables, "main.u")
	_, err = tablesRead(bound.PlanJSON, env.snap)
	require.Equal(t, status.NotFound, status.CodeOf(err))
	_, err = tablesRead([]byte("{"), env.snap)
	require.Equal(t, status.Internal, status.CodeOf(err))
}

func TestExplainAnalyze(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	p, err := New(env.binder).Plan(t.Context(), "SELECT s, count(*) FROM u GROUP BY s", env.snap, Options{})
	require.NoError(t, err)
	stats := Stats{Scans: []ScanStats{{ID: "scan1", Table: "main.u", Targets: []TargetStats{{
		Scanner: "s1", Mode: ModeAggregate, Duration: 1234567 * time.Nanosecond, Retries: 1,
		Counts: Counts{RowsScanned: 100, RowsReceived: 4, BytesReceived: 512, Batches: 1},
	}}}}}
	text := p.ExplainAnalyze(stats)
	require.Contains(t, text, "measured: mode aggregate, 100 rows scanned, 4 rows and 512 bytes received in 1 batches, 1.23ms, 1 retries on replicas")
	require.Contains(t, text, "total: 100 rows scanned, 4 rows and 512 bytes received in 1 batches")
	require.True(t, strings.HasPrefix(text, strings.SplitN(p.Explain(), "scan1", 2)[0]))

	quiet := p.ExplainAnalyze(Stats{Scans: []ScanStats{{ID: "scan1", Targets: []TargetStats{{}}}}})
	require.Contains(t, quiet, "measured: mode nothing received")
	require.NotContains(t, p.ExplainAnalyze(Stats{}), "measured")
	require.Equal(t, Counts{RowsScanned: 100, RowsReceived: 4, BytesReceived: 512, Batches: 1}, stats.Total())
}
