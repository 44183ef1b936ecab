package exec

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

func checked(t *testing.T) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// ints is a batch of one column n with the values 0 to n-1.
func ints(mem memory.Allocator, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil))
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewRecordBatch()
}

func TestQueueIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	q := newQueue(100, func(int64) {})
	grants := 0
	push := func(ctx context.Context, bytes int64) error {
		return q.push(ctx, item{batch: ints(mem, 1), bytes: bytes, taken: func() { grants++ }})
	}
	require.NoError(t, push(t.Context(), 60))
	full, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, push(full, 60), context.Canceled)
	require.NoError(t, push(t.Context(), 40))
	require.EqualValues(t, 100, q.held.Load())

	q.pop(<-q.items).Release()
	require.Equal(t, 1, grants)
	q.pop(<-q.items).Release()
	require.NoError(t, push(t.Context(), 1000), "a single batch may be larger than the queue")
	q.drain()
	require.Zero(t, q.held.Load())
	require.Equal(t, 2, grants, "what is dropped gives no credit")
	close(q.items)
	q.drain()
}

func TestQuota(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	take := func(q *quota, n int) (rows int64, enough bool) {
		b, enough := q.take(ints(mem, n))
		if b == nil {
			return 0, enough
		}
		defer b.Release()
		return b.NumRows(), enough
	}
	for _, tc := range []struct {
		limit int64
		sizes []int
		want  []int64
	}{
		{pushdown.NoLimit, []int{5, 7}, []int64{5, 7}},
		{10, []int{4, 4, 4, 4}, []int64{4, 4, 2, 0}},
		{8, []int{4, 4, 4}, []int64{4, 4, 0}},
		{0, []int{3}, []int64{0}},
	} {
		q := newQuota(tc.limit)
		seen := int64(0)
		for i, n := range tc.sizes {
			rows, enough := take(q, n)
			seen += rows
			require.Equal(t, tc.want[i], rows)
			require.Equal(t, tc.limit != pushdown.NoLimit && seen == tc.limit, enough)
		}
	}
}

func TestConform(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "l", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	require.NoError(t, b.Field(0).(*array.BinaryDictionaryBuilder).AppendString("x"))
	b.Field(0).AppendNull()
	b.Field(1).(*array.LargeStringBuilder).AppendValues([]string{"long", ""}, nil)
	b.Field(2).(*array.Int64Builder).AppendValues([]int64{1, 2}, []bool{false, true})
	rec := b.NewRecordBatch()
	defer rec.Release()
	require.Positive(t, size(rec))

	text := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	byName := arrow.NewSchema([]arrow.Field{schema.Field(2), text("l"), text("d")}, nil)
	got, err := conform(rec, byName, nil, mem)
	require.NoError(t, err)
	require.True(t, got.Schema().Equal(byName))
	require.Equal(t, []string{"(null)", "long", "x"}, []string{got.Column(0).ValueStr(0), got.Column(1).ValueStr(0), got.Column(2).ValueStr(0)})
	require.True(t, got.Column(2).IsNull(1))
	got.Release()

	byPlace := arrow.NewSchema([]arrow.Field{text("anything"), text("twice")}, nil)
	got, err = conform(rec, byPlace, []int{1, 1}, mem)
	require.NoError(t, err)
	require.Equal(t, "long", got.Column(1).ValueStr(0))
	got.Release()

	for _, bad := range []struct {
		schema *arrow.Schema
		at     []int
	}{
		{arrow.NewSchema([]arrow.Field{text("d"), text("missing")}, nil), nil},
		{byPlace, []int{0, 3}},
		{arrow.NewSchema([]arrow.Field{text("d"), {Name: "l", Type: arrow.PrimitiveTypes.Int64}}, nil), nil},
	} {
		_, err := conform(rec, bad.schema, bad.at, mem)
		require.Equal(t, status.DataLoss, status.CodeOf(err), "%v", err)
	}
}

func TestStreamWindow(t *testing.T) {
	t.Parallel()
	cfg := Config{}.withDefaults()
	require.EqualValues(t, 16<<20, streamWindow(cfg, Options{}, 0))
	require.EqualValues(t, 16<<20, streamWindow(cfg, Options{}, 4))
	require.EqualValues(t, 8<<20, streamWindow(cfg, Options{}, 8))
	require.EqualValues(t, minWindow, streamWindow(cfg, Options{}, 10_000))
	require.EqualValues(t, 1000, streamWindow(cfg, Options{WindowBytes: 1000}, 8))
}

func TestEstimates(t *testing.T) {
	t.Parallel()
	v := pushdown.Column{Name: "v", DataType: arrow.PrimitiveTypes.Int64}
	s := pushdown.Column{Name: "s", DataType: arrow.BinaryTypes.String}
	yes := pushdown.Like{Arg: s, Kind: pushdown.LikePrefix, Pattern: "x"}
	value := pushdown.IsNull{Arg: v, Negated: true}
	counted := []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}
	for name, tc := range map[string]struct {
		spec  pushdown.Spec
		known int64
		want  int64
	}{
		"rows":       {pushdown.Spec{Columns: []pushdown.Column{v, s}, Limit: pushdown.NoLimit}, 1000, 2000},
		"unknown":    {pushdown.Spec{Columns: []pushdown.Column{v}, Limit: pushdown.NoLimit}, -1, -1},
		"filter":     {pushdown.Spec{Columns: []pushdown.Column{v}, Filter: []pushdown.Expr{yes, yes}, Limit: pushdown.NoLimit}, 1000, 80},
		"no NULL":    {pushdown.Spec{Columns: []pushdown.Column{v}, Filter: []pushdown.Expr{value}, Limit: pushdown.NoLimit}, 1000, 2000},
		"limit":      {pushdown.Spec{Columns: []pushdown.Column{v}, Limit: 7}, 1000, 7},
		"limit of ?": {pushdown.Spec{Columns: []pushdown.Column{v}, Limit: 7}, -1, 7},
		"global":     {pushdown.Spec{Aggregates: counted, Limit: pushdown.NoLimit}, 1000, 1},
		"groups":     {pushdown.Spec{Aggregates: counted, GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: s}}, Limit: pushdown.NoLimit}, 1000, -1},
	} {
		scanner := &catalog.Scanner{Name: "x"}
		table := &catalog.Table{Partitions: []catalog.Partition{{ID: "0", Rows: tc.known}, {ID: "1", Rows: tc.known}}}
		q := &query{exec: New(Config{})}
		scan := newRemoteScan(q, &plan.RemoteScan{
			Table: table, Spec: tc.spec,
			Targets: []plan.Target{{Scanner: scanner, Partitions: []string{"0", "1"}}},
		})
		n, exact := newInput(scan, false).Rows()
		require.Equal(t, tc.want, n, name)
		require.False(t, exact)
	}
	require.EqualValues(t, 24, rowWidth(&pushdown.Spec{Columns: []pushdown.Column{v, s}}))
}

// A context is done a moment before those made from it: what fails in between
// must not fail the query.
func TestErrorsOfAClosedScanAreIgnored(t *testing.T) {
	t.Parallel()
	closed, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, (&openScan{ctx: closed, reading: t.Context(), control: newControl()}).unwanted())
	require.True(t, (&openScan{ctx: t.Context(), reading: closed, control: newControl()}).unwanted())
	require.False(t, (&openScan{ctx: t.Context(), reading: t.Context(), control: newControl()}).unwanted())
	sated := newControl()
	require.True(t, sated.sate())
	require.False(t, sated.sate())
	require.True(t, (&openScan{ctx: t.Context(), reading: t.Context(), control: sated}).unwanted())
}
