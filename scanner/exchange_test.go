package scanner_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

func TestScanOfRows(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem, 250, 0, 30)))
	rows, end, err := r.scan(rowsSpec("0", "1", "2"))
	require.NoError(t, err)
	require.Len(t, rows, 280)
	require.EqualValues(t, 280, end.RowsScanned)
	rows, _, err = r.scan(rowsSpec("2"))
	require.NoError(t, err)
	require.Len(t, rows, 30)
}

func TestScanByKernels(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	for _, workers := range []int{1, 2, 8} {
		cfg := table(memTable(t, mem, 1000, 10, 0, 1))
		cfg.Workers = workers
		r := start(t, mem, cfg)
		all := []string{"0", "1", "2", "3"}

		spec := countSpec(all...)
		rows, end, err := r.scan(spec)
		require.NoError(t, err)
		require.Equal(t, []string{"NULL | 102", "even | 404", "odd | 505"}, texts(rows))
		require.EqualValues(t, 1011, end.RowsScanned)

		spec.GroupBy = nil
		spec.Filter = []pushdown.Expr{below(-1)}
		rows, _, err = r.scan(spec)
		require.NoError(t, err)
		require.Equal(t, []string{"0"}, texts(rows), "one row over no rows")

		spec = rowsSpec(all...)
		spec.Filter = []pushdown.Expr{below(3)}
		rows, _, err = r.scan(spec)
		require.NoError(t, err)
		require.Equal(t, []string{"0 | NULL", "1 | odd", "2 | even"}, texts(rows))

		spec.Filter = nil
		spec.Limit = 150
		rows, _, err = r.scan(spec)
		require.NoError(t, err)
		require.Len(t, rows, 150)

		spec.Columns = []pushdown.Column{g}
		spec.Filter = []pushdown.Expr{below(500)}
		spec.OrderBy = []pushdown.SortKey{{Column: id, Descending: true}}
		spec.Limit = 3
		rows, _, err = r.scan(spec)
		require.NoError(t, err)
		require.Equal(t, [][]any{{"odd"}, {"even"}, {"odd"}}, rows, "a top-N is one and in order")
		spec.Filter = nil
		rows, _, err = r.scan(spec)
		require.NoError(t, err)
		require.Equal(t, [][]any{{nil}, {"odd"}, {"even"}}, rows)
	}
}

func TestCountOfNoColumn(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem, 5, 6)))
	spec := countSpec("0", "1")
	spec.GroupBy = nil
	rows, _, err := r.scan(spec)
	require.NoError(t, err)
	require.Equal(t, []string{"11"}, texts(rows))
}

func TestDisabledCapabilitiesAreRefused(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	cfg := table(memTable(t, mem, 5))
	cfg.Disable = []string{"agg", "filter.in"}
	r := start(t, mem, cfg)
	_, _, err := r.scan(countSpec("0"))
	require.ErrorIs(t, err, &status.Error{Code: status.FailedPrecondition})
	require.ErrorContains(t, err, `does not offer the capability "agg.count"`)
	rows, _, err := r.scan(rowsSpec("0"))
	require.NoError(t, err)
	require.Len(t, rows, 5)
}

func TestScanErrors(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem, 5)))
	missing := rowsSpec("0")
	missing.Table = "main.nope"
	column := rowsSpec("0")
	column.Columns = []pushdown.Column{{Name: "nope", DataType: id.DataType}}
	for want, c := range map[string]struct {
		spec pushdown.Spec
		code status.Code
	}{
		`no table "main.nope"`: {missing, status.NotFound},
		`no partition "9"`:     {rowsSpec("9"), status.NotFound},
		`no column "nope"`:     {column, status.InvalidArgument},
	} {
		_, _, err := r.scan(c.spec)
		require.ErrorContains(t, err, want)
		require.Equal(t, c.code, status.CodeOf(err))
	}
	eventually(t, func() bool { return r.OpenScans() == 0 })
}

func TestSourceFails(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	boom := status.New(status.DataLoss, "block 3 is damaged")
	n := 0
	failing, _ := reading(func(context.Context) (arrow.RecordBatch, error) {
		if n++; n > 2 {
			return nil, boom
		}
		return numbers(mem, 0, 10), nil
	})
	for name, source := range map[string]*fake{
		"midway":  failing,
		"at once": {scan: func(context.Context, pushdown.Spec) (scanner.Reader, error) { return nil, boom }},
		"schema":  {schemaErr: boom},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, mem, table(source))
			_, _, err := r.scan(rowsSpec("0"))
			require.ErrorIs(t, err, &status.Error{Code: status.DataLoss})
			require.ErrorContains(t, err, "block 3 is damaged")
			require.ErrorContains(t, err, `table main.t of scanner "s1"`)
			if name != "schema" {
				require.ErrorContains(t, err, `partition "0"`)
			}
		})
	}
}

func TestSourcePanics(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	midway, _ := reading(func(context.Context) (arrow.RecordBatch, error) { panic("index out of range") })
	for name, source := range map[string]*fake{
		"midway":  midway,
		"at once": {scan: func(context.Context, pushdown.Spec) (scanner.Reader, error) { panic("index out of range") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, mem, table(source))
			_, _, err := r.scan(rowsSpec("0"))
			require.ErrorIs(t, err, &status.Error{Code: status.Internal})
			require.ErrorContains(t, err, "source of table main.t panicked: index out of range")
			eventually(t, func() bool { return r.OpenScans() == 0 })
		})
	}
}

// forever yields batches until the context ends.
func forever(mem memory.Allocator) (*fake, *reader) {
	return reading(func(ctx context.Context) (arrow.RecordBatch, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return numbers(mem, 0, 100), nil
	})
}

// silent yields nothing until the context ends.
func silent() (*fake, *reader) {
	return reading(func(ctx context.Context) (arrow.RecordBatch, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	endless, endlessReader := forever(mem)
	quiet, quietReader := silent()
	for name, c := range map[string]struct {
		source *fake
		reader *reader
	}{"while it sends": {endless, endlessReader}, "while it computes": {quiet, quietReader}} {
		t.Run(name, func(t *testing.T) {
			r := start(t, mem, table(c.source))
			s, err := r.open(t.Context(), rowsSpec("0"))
			require.NoError(t, err)
			_, err = s.Opened()
			require.NoError(t, err)
			require.Equal(t, 1, r.OpenScans())
			<-c.reader.called
			require.NoError(t, s.Close())
			<-c.reader.closed
			eventually(t, func() bool { return r.OpenScans() == 0 })
		})
	}
}

func TestLimitFromTheCoordinatorEndsTheScan(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	quiet, _ := silent()
	r := start(t, mem, table(quiet))
	s, err := r.open(t.Context(), rowsSpec("0"))
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Opened()
	require.NoError(t, err)
	require.NoError(t, s.Limit(0))
	_, err = s.Next()
	require.Equal(t, io.EOF, err, "having enough is not a failure")
}

func TestLimitStopsTheSource(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	endless, rd := forever(mem)
	r := start(t, mem, table(endless))
	spec := rowsSpec("0")
	spec.Limit = 250
	rows, _, err := r.scan(spec)
	require.NoError(t, err)
	require.Len(t, rows, 250)
	<-rd.closed
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	quiet, _ := silent()
	cfg := table(quiet)
	cfg.Heartbeat = 5 * time.Millisecond
	r := start(t, mem, cfg)
	s, err := r.open(t.Context(), rowsSpec("0"))
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Opened()
	require.NoError(t, err)
	got := make(chan error, 1)
	go func() {
		_, err := s.Next()
		got <- err
	}()
	eventually(t, func() bool { return s.RowsScanned() == 7 })
	require.NoError(t, s.Close())
	require.Error(t, <-got)
}

func TestShutdownStopsScans(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	quiet, rd := silent()
	r := start(t, mem, table(quiet))
	s, err := r.open(t.Context(), rowsSpec("0"))
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Opened()
	require.NoError(t, err)
	<-rd.called
	require.NoError(t, r.Close())
	_, err = s.Next()
	require.ErrorIs(t, err, &status.Error{Code: status.Unavailable})
	require.ErrorContains(t, err, `scanner "s1" is shutting down`)
	<-rd.closed
}

// An engine of its own gets the whole spec at once; a source that filters gets
// a read for each partition.
func TestWhatSourcesAreAsked(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	filter := pushdown.NewCapabilities(pushdown.CapFilter)
	for name, c := range map[string]struct {
		caps pushdown.Capabilities
		want int
	}{"engine": {pushdown.AllCapabilities(), 1}, "filter": {filter, 2}, "rows": {pushdown.Capabilities{}, 2}} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan pushdown.Spec, 4)
			source := &fake{caps: c.caps, scan: func(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
				asked <- spec
				return &reader{closed: make(chan struct{}), next: func(context.Context) (arrow.RecordBatch, error) { return nil, io.EOF }}, nil
			}}
			r := start(t, mem, table(source))
			spec := rowsSpec("0", "1")
			spec.Filter = []pushdown.Expr{below(5)}
			_, _, err := r.scan(spec)
			require.NoError(t, err)
			require.Len(t, asked, c.want)
			got := <-asked
			require.Len(t, got.Partitions, 3-c.want)
			require.Equal(t, name != "rows", len(got.Filter) == 1)
		})
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	cfg := table(memTable(t, mem, 200))
	registry := prometheus.NewRegistry()
	cfg.Registry = registry
	r := start(t, mem, cfg)
	_, _, err := r.scan(countSpec("0"))
	require.NoError(t, err)
	_, _, err = r.scan(rowsSpec("9"))
	require.Error(t, err)
	eventually(t, func() bool { return r.OpenScans() == 0 })
	names := []string{
		"tributary_scanner_bytes_sent_total", "tributary_scanner_kept_scans_total", "tributary_scanner_open_scans", "tributary_scanner_rows_scanned_total",
		"tributary_scanner_rows_sent_total", "tributary_scanner_scan_errors_total", "tributary_scanner_scan_seconds",
		"tributary_scanner_scans_total",
	}
	n, err := testutil.GatherAndCount(registry, names...)
	require.NoError(t, err)
	require.Equal(t, 10, n, "two modes of scans and seconds")
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, len(names))
	for _, f := range families {
		if f.GetName() == "tributary_scanner_rows_scanned_total" {
			require.EqualValues(t, 200, f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	_, err = scanner.New(scanner.Config{Name: "x", Registry: registry})
	require.ErrorIs(t, err, &status.Error{Code: status.AlreadyExists})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	source := &fake{}
	for want, cfg := range map[string]scanner.Config{
		"needs a name":              {},
		"needs a name and a source": {Name: "s", Tables: []scanner.Table{{Name: "t"}}},
		"configured twice":          {Name: "s", Tables: []scanner.Table{{Name: "t", Source: source}, {Schema: "main", Name: "t", Source: source}}},
		`no capability "aggs"`:      {Name: "s", Disable: []string{"aggs"}},
	} {
		_, err := scanner.New(cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestScanOverTinyCredit(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem, 1000, 1000)))
	s, err := r.client().Scan(t.Context(), codec.OpenRequest{ScanID: "x", Spec: rowsSpec("0", "1"), InitialCredit: 1, BatchBytes: 1}, mem)
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Opened()
	require.NoError(t, err)
	n := int64(0)
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		n += b.Record.NumRows()
		b.Record.Release()
		require.NoError(t, s.Grant(b.WireBytes))
	}
	require.EqualValues(t, 2000, n)
}
