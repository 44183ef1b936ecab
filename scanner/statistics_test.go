package scanner_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
)

// listed is a source that lists what a test wants.
type listed struct {
	fake
	partitions []scanner.Partition
}

func (l *listed) Partitions(context.Context) ([]scanner.Partition, error) { return l.partitions, nil }

func helloTable(t *testing.T, s *scanner.Scanner) codec.Table {
	t.Helper()
	h, err := s.Hello(t.Context())
	require.NoError(t, err)
	body, err := codec.EncodeHello(h)
	require.NoError(t, err)
	got, err := codec.DecodeHello(body)
	require.NoError(t, err)
	require.Len(t, got.Tables, 1)
	require.Empty(t, got.Tables[0].Err)
	return got.Tables[0]
}

func TestHelloStatistics(t *testing.T) {
	t.Parallel()
	three, text := scalar.NewInt64Scalar(3), scalar.NewStringScalar(strings.Repeat("x", 65))
	stats := map[string]codec.ColumnStats{
		"id":   {Min: three, Max: three, Nulls: 1, Exact: true, Distinct: 7, Sketch: []byte{1, 3}},
		"g":    {Min: text, Max: scalar.NewStringScalar("y"), Nulls: -1, Exact: true},
		"none": {Nulls: 1},
	}
	source := &listed{partitions: []scanner.Partition{
		{ID: "0", Rows: 1, Bytes: -1, Version: "a", Columns: stats}, {ID: "1", Rows: 1, Bytes: -1, Columns: stats},
	}}
	r := start(t, checked(t), table(source))
	got := helloTable(t, r.Scanner)
	require.NotEmpty(t, got.Version)
	require.False(t, got.Versioned, "one partition has no version")
	require.Equal(t, stats["id"], got.Partitions[0].Columns["id"])
	require.Equal(t, codec.ColumnStats{Max: scalar.NewStringScalar("y"), Nulls: -1}, got.Partitions[0].Columns["g"])
	require.NotContains(t, got.Partitions[0].Columns, "none")
	require.Nil(t, got.Partitions[1].Columns, "a partition without a version")

	for name, change := range map[string]func(p *scanner.Partition){
		"version": func(p *scanner.Partition) { p.Version = "b" },
		"rows":    func(p *scanner.Partition) { p.Rows = 2 },
		"id":      func(p *scanner.Partition) { p.ID = "00" },
	} {
		change(&source.partitions[0])
		next := helloTable(t, r.Scanner)
		require.NotEqual(t, got.Version, next.Version, name)
		got = next
	}
	source.partitions[0].Version = ""
	require.Empty(t, helloTable(t, r.Scanner).Version)
}

func TestHelloStaysSmall(t *testing.T) {
	t.Parallel()
	source := &listed{}
	for i := range 1<<14 + 1 {
		source.partitions = append(source.partitions, scanner.Partition{
			ID: fmt.Sprint(i), Version: "a", Columns: map[string]codec.ColumnStats{"id": {}, "g": {}},
		})
	}
	r := start(t, checked(t), table(source))
	got := helloTable(t, r.Scanner)
	require.NotEmpty(t, got.Version)
	require.True(t, got.Versioned)
	require.Nil(t, got.Partitions[0].Columns)
}

// TestManySketches do not travel; how many values there are does.
func TestManySketches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		partitions int
		sketches   bool
	}{{100, true}, {1100, false}} {
		source := &listed{}
		for i := range c.partitions {
			stats := codec.ColumnStats{Nulls: -1, Distinct: 9, Sketch: make([]byte, 256)}
			source.partitions = append(source.partitions, scanner.Partition{ID: fmt.Sprint(i), Rows: 1, Version: "a", Columns: map[string]codec.ColumnStats{"id": stats}})
		}
		r := start(t, checked(t), table(source))
		got := helloTable(t, r.Scanner).Partitions[0].Columns["id"]
		require.EqualValues(t, 9, got.Distinct)
		require.Equal(t, c.sketches, got.Sketch != nil)
		require.NotNil(t, source.partitions[0].Columns["id"].Sketch, "the source's own are left alone")
	}
}

// TestScanComparesTheVersion: a scan that relies on statistics fails when the
// table changed after they were announced.
func TestScanComparesTheVersion(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	source := memTable(t, mem, 10, 10)
	r := start(t, mem, table(source))
	version := helloTable(t, r.Scanner).Version
	require.NotEmpty(t, version)
	scan := func() (codec.Opened, error) {
		s, err := r.client().Scan(t.Context(), codec.OpenRequest{ScanID: "s", Spec: rowsSpec("0"), Epoch: r.Epoch(), TableVersion: version}, mem)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		return s.Opened()
	}
	opened, err := scan()
	require.NoError(t, err)
	require.Equal(t, version, opened.TableVersion)

	require.NoError(t, source.Put(memsource.Partition{ID: "1"}))
	_, err = scan()
	require.Equal(t, status.Aborted, status.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "has changed since the query was planned")
	next := helloTable(t, r.Scanner).Version
	require.NotEqual(t, version, next)
	version = next
	_, err = scan()
	require.NoError(t, err)
}

// changing is a source that changes as soon as it is read.
type changing struct {
	*memsource.Source
	t *testing.T
}

func (c changing) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	r, err := c.Source.Scan(ctx, spec)
	require.NoError(c.t, c.Put(memsource.Partition{ID: "1"}))
	return r, err
}

// TestPinnedScan fails when the table changes while it runs; others do not mind.
func TestPinnedScan(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(changing{memTable(t, mem, 10, 10), t}))
	for _, pin := range []bool{false, true} {
		have := helloTable(t, r.Scanner)
		require.True(t, have.Versioned)
		s, err := r.client().Scan(t.Context(), codec.OpenRequest{
			ScanID: "s", Spec: rowsSpec("0"), Epoch: r.Epoch(), TableVersion: have.Version, PinVersion: pin,
		}, mem)
		require.NoError(t, err)
		for err == nil {
			var b codec.Batch
			if b, err = s.Next(); err == nil {
				b.Record.Release()
			}
		}
		if pin {
			require.Equal(t, status.Aborted, status.CodeOf(err), "%v", err)
		} else {
			require.ErrorIs(t, err, io.EOF)
		}
		require.NoError(t, s.Close())
	}
}
