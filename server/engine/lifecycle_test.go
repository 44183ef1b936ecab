package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

// stream is an input of one int64 column whose batches next makes; it counts
// the batches and the open readers.
type stream struct {
	next   func(ctx context.Context, n int64) (arrow.RecordBatch, error)
	opened func() error
	count  atomic.Int64
	open   atomic.Int64
}

var streamSchema = arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}}, nil)

func (s *stream) Schema() *arrow.Schema { return streamSchema }
func (s *stream) Rows() (int64, bool)   { return -1, false }

func (s *stream) Open(context.Context, []int) (Reader, error) {
	if s.opened != nil {
		if err := s.opened(); err != nil {
			return nil, err
		}
	}
	s.open.Add(1)
	return (*streamReader)(s), nil
}

type streamReader stream

func (s *streamReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	return s.next(ctx, s.count.Add(1)-1)
}

func (s *streamReader) Close() error {
	s.open.Add(-1)
	return nil
}

// block waits for the end of the query, as a scanner that sends nothing.
func block(ctx context.Context, _ int64) (arrow.RecordBatch, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// endless yields batches of 8192 rows for ever.
func endless(_ context.Context, n int64) (arrow.RecordBatch, error) {
	values := make([]int64, 8192)
	for i := range values {
		values[i] = n*8192 + int64(i)
	}
	d := array.NewData(arrow.PrimitiveTypes.Int64, len(values), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(values))}, nil, 0, 0)
	return array.NewRecordBatch(streamSchema, []arrow.Array{array.MakeFromData(d)}, int64(len(values))), nil
}

// upTo ends endless after some batches.
func upTo(batches int64) func(context.Context, int64) (arrow.RecordBatch, error) {
	return func(ctx context.Context, n int64) (arrow.RecordBatch, error) {
		if n >= batches {
			return nil, io.EOF
		}
		return endless(ctx, n)
	}
}

func inputs(in Input) map[string]Input { return map[string]Input{"s": in} }

func TestInputErrorKeepsItsCode(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2, Warm: 1})
	lost := status.New(status.Unavailable, "scanner s1 is gone")
	cases := map[string]*stream{
		"in Next": {next: func(ctx context.Context, n int64) (arrow.RecordBatch, error) {
			if n > 3 {
				return nil, status.Wrap(status.Unknown, lost, "table t")
			}
			return endless(ctx, n)
		}},
		"in Open": {opened: func() error { return lost }},
	}
	for name, in := range cases {
		for _, sql := range []string{"select sum(k) from remote('s')", "select k from remote('s') order by k", "select k from remote('s')"} {
			_, err := query(t, p, Query{SQL: sql, Inputs: inputs(in)})
			require.ErrorIs(t, err, lost, name)
			require.Equal(t, status.Unavailable, status.CodeOf(err))
			require.Zero(t, in.open.Load())
			in.count.Store(0)
		}
	}
	require.Equal(t, []string{"1"}, mustQuery(t, p, Query{SQL: "select 1"}))
}

func TestPanicInInput(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2})
	in := &stream{next: func(context.Context, int64) (arrow.RecordBatch, error) { panic("boom") }}
	_, err := query(t, p, Query{SQL: "select sum(k) from remote('s')", Inputs: inputs(in)})
	require.Equal(t, status.Internal, status.CodeOf(err))
	require.ErrorContains(t, err, "boom")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2, Warm: 1})
	cases := map[string]struct {
		sql  string
		next func(context.Context, int64) (arrow.RecordBatch, error)
	}{
		"blocked input":  {"select sum(k) from remote('s')", block},
		"busy aggregate": {"select sum(k) from remote('s')", endless},
		"busy engine":    {"select count(*) from range(1000000000000) t(i) where i % 3 = 7", endless},
		"busy join":      {"select count(*) from range(3000000) a, range(3000000) b where a.range + b.range = -1", endless},
		"stream":         {"select k from remote('s') where k < 0", endless},
	}
	for name, c := range cases {
		in := &stream{next: c.next}
		ctx, cancel := context.WithCancel(context.Background())
		r, err := p.Run(ctx, Query{SQL: c.sql, Inputs: inputs(in)})
		require.NoError(t, err, name)
		var stopped time.Time
		time.AfterFunc(50*time.Millisecond, func() { stopped = time.Now(); cancel() })
		_, err = r.Next(context.Background())
		took := time.Since(stopped)
		require.Equal(t, status.Canceled, status.CodeOf(err), "%s: %v", name, err)
		require.NoError(t, r.Close())
		require.Less(t, took, time.Second, name)
		require.Zero(t, in.open.Load(), name)
		_, err = r.Next(context.Background())
		require.ErrorIs(t, err, io.EOF)
	}
	require.Equal(t, []string{"1"}, mustQuery(t, p, Query{SQL: "select 1"}))
}

// TestDeadlineAndCause: the code of the context's cause is the query's.
func TestDeadlineAndCause(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	r, err := p.Run(t.Context(), Query{SQL: "from remote('s')", Inputs: inputs(&stream{next: block})})
	require.NoError(t, err)
	_, err = r.Next(ctx)
	require.Equal(t, status.DeadlineExceeded, status.CodeOf(err))
	require.NoError(t, r.Close())
	why, stop := context.WithCancelCause(context.Background())
	r, err = p.Run(why, Query{SQL: "from remote('s')", Inputs: inputs(&stream{next: block})})
	require.NoError(t, err)
	stop(status.New(status.DataLoss, "stream cut"))
	_, err = r.Next(t.Context())
	require.Equal(t, status.DataLoss, status.CodeOf(err))
	require.NoError(t, r.Close())
}

func TestEarlyClose(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2, Warm: 1})
	for _, sql := range []string{"from remote('s')", "from remote('s') a join range(100) b on a.k = b.range", "select k from remote('s') limit 5"} {
		in := &stream{next: endless}
		r, err := p.Run(t.Context(), Query{SQL: sql, Inputs: inputs(in), Alloc: checked(t)})
		require.NoError(t, err)
		if !strings.Contains(sql, "join") {
			b, err := r.Next(t.Context())
			require.NoError(t, err)
			b.Release()
		}
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		require.Zero(t, in.open.Load())
	}
}

// TestCloseDuringNext: Close from another goroutine ends a blocked Next.
func TestCloseDuringNext(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2})
	r, err := p.Run(t.Context(), Query{SQL: "from remote('s')", Inputs: inputs(&stream{next: block})})
	require.NoError(t, err)
	time.AfterFunc(20*time.Millisecond, func() { _ = r.Close() })
	_, err = r.Next(t.Context())
	require.Error(t, err)
	require.NoError(t, r.Close())
}

// TestSlowInputBlocksNobody: queries whose inputs send nothing leave the others alone.
func TestSlowInputBlocksNobody(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 2})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		r, err := p.Run(ctx, Query{SQL: "select sum(k) from remote('s')", Inputs: inputs(&stream{next: block})})
		require.NoError(t, err)
		wg.Go(func() {
			_, _ = r.Next(ctx)
			_ = r.Close()
		})
	}
	for range 5 {
		got := mustQuery(t, p, Query{SQL: "select count(*) from remote('s')", Inputs: inputs(&stream{next: upTo(10)})})
		require.Equal(t, []string{"81920"}, got)
	}
	cancel()
	wg.Wait()
}

func TestMaxOpen(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, MaxOpen: 1})
	r, err := p.Run(t.Context(), Query{SQL: "select 1"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = p.Run(ctx, Query{SQL: "select 1"})
	require.Equal(t, status.DeadlineExceeded, status.CodeOf(err))
	require.NoError(t, r.Close())
	require.Equal(t, []string{"1"}, mustQuery(t, p, Query{SQL: "select 1"}))
}

func TestPoolClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testPool(t, Config{Threads: 1, TempDir: dir, Warm: 3})
	r, err := p.Run(t.Context(), Query{SQL: "from remote('s')", Inputs: inputs(&stream{next: block})})
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = r.Next(t.Context())
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.NoError(t, r.Close())
	_, err = p.Run(t.Context(), Query{SQL: "select 1"})
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestConstantMemory streams 160 MB through an engine that may use 32 MB, to a
// slow reader: the input must not be read ahead of it without bound.
func TestConstantMemory(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2, MemoryLimit: 32 << 20, MaxTempBytes: 1 << 20})
	in := &stream{next: upTo(2_500)}
	r, err := p.Run(t.Context(), Query{SQL: "select k, k + 1 from remote('s')", Inputs: inputs(in)})
	require.NoError(t, err)
	rows, batches := int64(0), 0
	for {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		rows += b.NumRows()
		if batches++; batches < 10 {
			time.Sleep(5 * time.Millisecond)
			require.Less(t, in.count.Load()*8192, rows+2_000_000, "the input runs ahead")
		}
		b.Release()
	}
	require.Equal(t, int64(2_500*8192), rows)
	require.NoError(t, r.Close())
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 2, MemoryLimit: 32 << 20, MaxTempBytes: 1 << 20})
	for _, sql := range []string{
		"select i, count(*) from range(5000000) t(i) group by i",
		"select list(i || 'xxxxxxxxxxxxxxxxxxxxxxxx') from range(3000000) t(i)",
	} {
		_, err := query(t, p, Query{SQL: sql})
		require.Equal(t, status.ResourceExhausted, status.CodeOf(err), "%v", err)
		require.NotContains(t, err.Error(), "SET ")
	}
	require.Equal(t, []string{"1"}, mustQuery(t, p, Query{SQL: "select 1"}))
}

func TestSpill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := testPool(t, Config{Threads: 2, MemoryLimit: 32 << 20, TempDir: dir})
	r, err := p.Run(t.Context(), Query{SQL: "select i from range(3000000) t(i) order by hash(i)"})
	require.NoError(t, err)
	b, err := r.Next(t.Context())
	require.NoError(t, err)
	b.Release()
	spilled, err := filepath.Glob(filepath.Join(dir, spillPrefix+"*", "*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, spilled)
	require.NoError(t, r.Close())
	spilled, err = filepath.Glob(filepath.Join(dir, spillPrefix+"*", "*", "*"))
	require.NoError(t, err)
	require.Empty(t, spilled)
}

// TestStaleSpill: the directory of a killed process goes, that of a living pool
// and of anybody else stays.
func TestStaleSpill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	living, err := newSpillRoot(dir)
	require.NoError(t, err)
	stale := filepath.Join(dir, spillPrefix+"1")
	other := filepath.Join(dir, spillPrefix+"other")
	require.NoError(t, os.MkdirAll(filepath.Join(stale, "7"), 0o700))
	require.NoError(t, os.WriteFile(lockFile(stale), nil, 0o600))
	require.NoError(t, os.Mkdir(other, 0o700))
	testPool(t, Config{TempDir: dir})
	require.NoDirExists(t, stale)
	require.DirExists(t, living.path)
	require.DirExists(t, other)
	require.NoError(t, living.remove())
}

// TestPoolLockdown: what reaches an instance cannot touch files or settings.
func TestPoolLockdown(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1})
	secret := filepath.Join(t.TempDir(), "x.csv")
	require.NoError(t, os.WriteFile(secret, []byte("a\n1\n"), 0o600))
	for _, sql := range []string{
		"from read_csv('" + secret + "')", "from '" + secret + "'", "from read_text('" + secret + "')", "from glob('/*')",
		"copy (select 1) to '" + secret + "'", "attach '" + secret + "' as x", "install httpfs", "load httpfs",
		"set threads = 8", "set lock_configuration = false", "set enable_external_access = true", "pragma memory_limit='1GB'",
		"create table t(a int)", "create view v as select 1", "begin", "select 1; select 2", "export database '/tmp/x'",
		"select getenv('HOME')", "set TimeZone = 'Asia/Tokyo'",
	} {
		_, err := query(t, p, Query{SQL: sql})
		require.Error(t, err, sql)
	}
	got := mustQuery(t, p, Query{SQL: "select current_setting('TimeZone'), current_setting('lock_configuration'), current_setting('disabled_optimizers')"})
	require.Equal(t, []string{"UTC|true|top_n_window_elimination"}, got)
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1})
	cases := []struct {
		sql  string
		code status.Code
	}{
		{"select 'x'::int", status.InvalidArgument},
		{"select 127::tinyint + 1::tinyint", status.OutOfRange},
		{"select error('no')", status.InvalidArgument},
		{"selec", status.InvalidArgument},
		{"select nope", status.InvalidArgument},
		{"from remote('nobody')", status.InvalidArgument},
		{"from read_csv('/etc/passwd')", status.PermissionDenied},
	}
	for _, c := range cases {
		_, err := query(t, p, Query{SQL: c.sql})
		require.Equal(t, c.code, status.CodeOf(err), "%s: %v", c.sql, err)
	}
}

// TestOverrides: a query with its own limits gets them, and the pool keeps its own.
func TestOverrides(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1, MemoryLimit: 256 << 20})
	sql := "select current_setting('threads'), current_setting('memory_limit')"
	require.Equal(t, []string{"3|64.0 MiB"}, mustQuery(t, p, Query{SQL: sql, Threads: 3, MemoryLimit: 64 << 20}))
	require.Equal(t, []string{"1|256.0 MiB"}, mustQuery(t, p, Query{SQL: sql}))
}

func TestBinderRun(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	for sql, want := range map[string]string{
		"show tables": "t", "describe t": "a|INTEGER|YES|(null)|(null)|(null)",
		"select table_schema || '.' || table_name from information_schema.tables where table_catalog = current_database() order by 1": "main.t",
		"select 40 + 2": "42",
	} {
		r, err := b.Run(t.Context(), sql)
		require.NoError(t, err, sql)
		rows, err := rowsOf(r)
		require.NoError(t, err, sql)
		require.Contains(t, rows, want, sql)
		require.NoError(t, r.Close())
	}
	_, err := b.Run(t.Context(), "drop table t")
	require.Equal(t, status.Unimplemented, status.CodeOf(err))
	_, err = b.Run(t.Context(), "from read_csv('/etc/passwd')")
	require.Equal(t, status.PermissionDenied, status.CodeOf(err))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	r, err := b.Run(ctx, "select count(*) from range(1000000000000) t(i) where i % 3 = 7")
	require.NoError(t, err)
	_, err = r.Next(t.Context())
	require.Equal(t, status.DeadlineExceeded, status.CodeOf(err))
	require.NoError(t, r.Close())
	_, err = b.Bind(t.Context(), "from t")
	require.NoError(t, err)
}

func BenchmarkInput(b *testing.B) {
	n := numbers(b, memory.DefaultAllocator, 2_000_000, 64<<10)
	p := testPool(b, Config{Threads: runtime.GOMAXPROCS(0), Warm: 1})
	for name, sql := range map[string]string{
		"int64/sum": "select sum(k) from remote('n')", "int32/group": "select v, count(*) from remote('n') group by v",
		"string/maxlen": "select max(strlen(s)) from remote('n')", "string/group": "select s, count(*) from remote('n') group by s",
	} {
		b.Run("query="+name, func(b *testing.B) {
			for b.Loop() {
				_, err := benchQuery(p, Query{SQL: sql, Inputs: map[string]Input{"n": n}})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.N)*2e6/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func BenchmarkOutput(b *testing.B) {
	p := testPool(b, Config{Threads: runtime.GOMAXPROCS(0), Warm: 1})
	for name, sql := range map[string]string{
		"int64": "select i from range(2000000) t(i)", "string": "select 'a rather long text ' || i from range(2000000) t(i)",
		"decimal": "select i::decimal(12,2), i::double, i::int from range(2000000) t(i)",
	} {
		b.Run("query="+name, func(b *testing.B) {
			for b.Loop() {
				n, err := benchQuery(p, Query{SQL: sql})
				require.NoError(b, err)
				require.Equal(b, int64(2_000_000), n)
			}
			b.ReportMetric(float64(b.N)*2e6/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func BenchmarkSmallQuery(b *testing.B) {
	p := testPool(b, Config{Threads: 2, Warm: 1})
	n := numbers(b, memory.DefaultAllocator, 10, 10)
	for b.Loop() {
		_, err := benchQuery(p, Query{SQL: "select v, sum(k) from remote('n') group by v", Inputs: map[string]Input{"n": n}})
		require.NoError(b, err)
	}
}

func benchQuery(p *Pool, q Query) (int64, error) {
	r, err := p.Run(context.Background(), q)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	n := int64(0)
	for {
		b, err := r.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += b.NumRows()
		b.Release()
	}
}
