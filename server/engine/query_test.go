package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// batches is an Input over batches held in memory.
type batches struct {
	schema *arrow.Schema
	rows   []arrow.RecordBatch
	opened atomic.Int32
	closed atomic.Int32
	asked  atomic.Pointer[[]int]
	err    error // in place of io.EOF
}

func (b *batches) Schema() *arrow.Schema { return b.schema }

func (b *batches) Rows() (int64, bool) {
	n := int64(0)
	for _, r := range b.rows {
		n += r.NumRows()
	}
	return n, true
}

func (b *batches) Open(_ context.Context, columns []int) (Reader, error) {
	b.opened.Add(1)
	b.asked.Store(&columns)
	return &batchReader{in: b, columns: columns}, nil
}

type batchReader struct {
	in      *batches
	columns []int
	mu      sync.Mutex
	next    int
}

func (r *batchReader) Next(context.Context) (arrow.RecordBatch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == len(r.in.rows) {
		if r.in.err != nil {
			return nil, r.in.err
		}
		return nil, io.EOF
	}
	b := r.in.rows[r.next]
	r.next++
	cols, fields := []arrow.Array{}, []arrow.Field{}
	for _, c := range r.columns {
		cols = append(cols, b.Column(c))
		fields = append(fields, b.Schema().Field(c))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, b.NumRows()), nil
}

func (r *batchReader) Close() error {
	r.in.closed.Add(1)
	return nil
}

// numbers is an input of n rows: k = 0…, v = k % 10, s = text.
func numbers(t testing.TB, mem memory.Allocator, n, perBatch int) *batches {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: arrow.PrimitiveTypes.Int32},
		{Name: "s", Type: arrow.BinaryTypes.String},
	}, nil)
	in := &batches{schema: schema}
	for from := 0; from < n; from += perBatch {
		b := array.NewRecordBuilder(mem, schema)
		for k := from; k < min(n, from+perBatch); k++ {
			b.Field(0).(*array.Int64Builder).Append(int64(k))
			b.Field(1).(*array.Int32Builder).Append(int32(k % 10))
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("a rather long text number %d", k%100))
		}
		in.rows = append(in.rows, b.NewRecordBatch())
		b.Release()
	}
	t.Cleanup(func() {
		for _, r := range in.rows {
			r.Release()
		}
	})
	return in
}

// uuids are a row with a UUID as text.
func uuids(t testing.TB, mem memory.Allocator) *batches {
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "u", Type: arrow.BinaryTypes.String},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(1)
	b.Field(1).(*array.StringBuilder).Append("a0000000-0000-0000-0000-00000000000a")
	row := b.NewRecordBatch()
	t.Cleanup(row.Release)
	return &batches{schema: row.Schema(), rows: []arrow.RecordBatch{row}}
}

func testPool(t testing.TB, cfg Config) *Pool {
	if cfg.TempDir == "" {
		cfg.TempDir = t.TempDir()
	}
	p, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func checked(t testing.TB) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t.(*testing.T), 0) })
	return mem
}

// rowsOf reads a result as one text a row.
func rowsOf(r *Result) ([]string, error) {
	var rows []string
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		for i := range int(b.NumRows()) {
			cells := make([]string, b.NumCols())
			for c, col := range b.Columns() {
				cells[c] = col.ValueStr(i)
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		b.Release()
	}
}

func query(t testing.TB, p *Pool, q Query) ([]string, error) {
	if q.Alloc == nil {
		q.Alloc = checked(t)
	}
	r, err := p.Run(t.Context(), q)
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, r.Close()) }()
	return rowsOf(r)
}

func mustQuery(t testing.TB, p *Pool, q Query) []string {
	rows, err := query(t, p, q)
	require.NoError(t, err, q.SQL)
	return rows
}

func TestQueries(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	in := map[string]Input{"n": numbers(t, mem, 10_000, 3001), "small": numbers(t, mem, 3, 2), "empty": numbers(t, mem, 0, 1)}
	p := testPool(t, Config{Threads: 2, Warm: 1})
	cases := []struct {
		sql  string
		want []string
	}{
		{"select 1", []string{"1"}},
		{"select count(*) from remote('n')", []string{"10000"}},
		{"select count(*) from remote('empty')", []string{"0"}},
		{"select sum(k), min(s), max(v) from remote('n')", []string{"49995000|a rather long text number 0|9"}},
		{"select count(*) from remote('n') where v = 3", []string{"1000"}},
		{"select count(*) from remote('n') where s like '%number 42'", []string{"100"}},
		{"select k from remote('n') where k >= 9998 order by k desc", []string{"9999", "9998"}},
		{"select v, count(*) c from remote('n') where k < 25 group by v order by v limit 2", []string{"0|3", "1|3"}},
		{"select a.k, b.s from remote('n') a join remote('small') b on a.k = b.k order by 1",
			[]string{"0|a rather long text number 0", "1|a rather long text number 1", "2|a rather long text number 2"}},
		{"select count(*) from remote('n') a join remote('n') b on a.k = b.k + 1", []string{"9999"}},
		{"with q as (select * from remote('n')) select (select count(*) from q), (select max(k) from q where v = 1)", []string{"10000|9991"}},
		{"select s, k from remote('small') order by k limit 1", []string{"a rather long text number 0|0"}},
		{"select * from remote('empty')", nil},
	}
	for _, c := range cases {
		require.Equal(t, c.want, mustQuery(t, p, Query{SQL: c.sql, Inputs: in}), c.sql)
	}
}

func TestProjection(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	p := testPool(t, Config{Threads: 1})
	for sql, want := range map[string][]int{
		"select s from remote('n')":            {2},
		"select s, k from remote('n')":         {2, 0},
		"select k from remote('n') where v= 1": {0, 1},
		"select count(*) from remote('n')":     nil,
	} {
		in := numbers(t, mem, 100, 10)
		mustQuery(t, p, Query{SQL: sql, Inputs: map[string]Input{"n": in}})
		got := *in.asked.Load()
		if want == nil {
			require.Len(t, got, 1, sql)
		} else {
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got, sql)
		}
		require.Equal(t, in.opened.Load(), in.closed.Load())
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	p := testPool(t, Config{Warm: 1})
	in := map[string]Input{"n": numbers(t, mem, 100, 10)}
	q := Query{SQL: "select count(*) from t join sa.\"u x\" using (k) join tributary.main.t t2 using (k)", Inputs: in,
		Views: []View{{Schema: "main", Name: "t", Input: "n"}, {Schema: "sa", Name: "u x", Input: "n"}}}
	for range 2 {
		require.Equal(t, []string{"100"}, mustQuery(t, p, q))
	}
	_, err := query(t, p, Query{SQL: "select * from t"})
	require.ErrorContains(t, err, "does not exist")
	q = Query{SQL: "select count(*) from t where u = 'A0000000-0000-0000-0000-00000000000A' and typeof(u) = 'UUID' and n = 1",
		Inputs: map[string]Input{"n": uuids(t, mem)}, Views: []View{{Schema: "main", Name: "t", Input: "n", UUIDs: []string{"u"}}}}
	require.Equal(t, []string{"1"}, mustQuery(t, p, q))
}

func TestSchema(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{})
	want := arrow.NewSchema([]arrow.Field{{Name: "other", Type: arrow.PrimitiveTypes.Int32}}, nil)
	r, err := p.Run(t.Context(), Query{SQL: "select 1 as a", Schema: want})
	require.NoError(t, err)
	require.True(t, r.Schema().Equal(want))
	b, err := r.Next(t.Context())
	require.NoError(t, err)
	require.True(t, b.Schema().Equal(want))
	b.Release()
	require.NoError(t, r.Close())
	_, err = p.Run(t.Context(), Query{SQL: "select 1::bigint", Schema: want})
	require.ErrorContains(t, err, "yields int64")
	_, err = p.Run(t.Context(), Query{SQL: "select 1, 2", Schema: want})
	require.ErrorContains(t, err, "2 columns instead of 1")
}
