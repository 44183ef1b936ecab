package scanner_test

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

// splitting is one partition in pieces of ten rows each.
type splitting struct {
	fake
	pieces int
	// enter is called when a piece begins; its error is that of the piece.
	enter func(ctx context.Context, piece int) error
	asked atomic.Int32
	open  atomic.Int32
}

func (s *splitting) Split(_ context.Context, spec pushdown.Spec, _ int) ([]scanner.Piece, error) {
	s.asked.Add(1)
	out := make([]scanner.Piece, s.pieces)
	for i := range out {
		out[i] = scanner.Piece{Partition: "0", Scan: func(ctx context.Context) (scanner.Reader, error) {
			if s.enter != nil {
				if err := s.enter(ctx, i); err != nil {
					return nil, err
				}
			}
			s.open.Add(1)
			return &pieceReader{source: s, spec: spec, from: 10 * i, to: 10*i + 10}, nil
		}}
	}
	return out, nil
}

// pieceReader yields one row a batch.
type pieceReader struct {
	source   *splitting
	spec     pushdown.Spec
	from, to int
	read     atomic.Int64
}

func (r *pieceReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.from == r.to {
		return nil, io.EOF
	}
	r.from++
	r.read.Add(1)
	inner := reader{spec: r.spec, next: func(context.Context) (arrow.RecordBatch, error) {
		return numbers(memory.DefaultAllocator, r.from-1, 1), nil
	}}
	return inner.Next(ctx)
}

func (r *pieceReader) RowsScanned() int64 { return r.read.Load() }

func (r *pieceReader) Close() error {
	r.source.open.Add(-1)
	return nil
}

// splitScanner serves a table in pieces with two workers.
func splitScanner(t *testing.T, source *splitting) *running {
	cfg := table(source)
	cfg.Workers = 2
	t.Cleanup(func() { require.Zero(t, source.open.Load(), "pieces left open") })
	return start(t, checked(t), cfg)
}

// TestSlowPieceIsLeftBehind: while one worker is held up in a piece, the other
// reads all the rest of the partition.
func TestSlowPieceIsLeftBehind(t *testing.T) {
	t.Parallel()
	rest, others := make(chan struct{}), atomic.Int32{}
	source := &splitting{pieces: 8}
	source.enter = func(ctx context.Context, piece int) error {
		if piece > 0 {
			if others.Add(1) == 7 {
				close(rest)
			}
			return nil
		}
		select {
		case <-rest:
			return nil
		case <-time.After(20 * time.Second):
			return status.New(status.Internal, "nobody took the other pieces: %d", others.Load())
		}
	}
	rows, end, err := splitScanner(t, source).scan(rowsSpec("0"))
	require.NoError(t, err)
	require.Equal(t, texts(pushdowntest.Rows(numbers(memory.DefaultAllocator, 0, 80))), texts(rows), "each row once")
	require.Equal(t, int64(80), end.RowsScanned)
}

// TestPiecesAreReadAtOnce: two pieces begin before either has ended.
func TestPiecesAreReadAtOnce(t *testing.T) {
	t.Parallel()
	both, begun := make(chan struct{}), atomic.Int32{}
	source := &splitting{pieces: 2, enter: func(context.Context, int) error {
		if begun.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			return nil
		case <-time.After(20 * time.Second):
			return status.New(status.Internal, "the pieces are read one by one")
		}
	}}
	rows, _, err := splitScanner(t, source).scan(rowsSpec("0"))
	require.NoError(t, err)
	require.Len(t, rows, 20)
}

// TestSplitResults: what the kernels make of pieces is what they make of the whole.
func TestSplitResults(t *testing.T) {
	t.Parallel()
	counted := countSpec("0")
	counted.Filter = []pushdown.Expr{below(45)}
	limited := rowsSpec("0")
	limited.Limit, limited.Filter = 13, []pushdown.Expr{below(45)}
	top := rowsSpec("0")
	top.Limit, top.OrderBy = 3, []pushdown.SortKey{{Column: id, Descending: true}}
	none := rowsSpec("0")
	none.Limit = 0
	all := pushdown.AllCapabilities()
	for name, c := range map[string]struct {
		caps  pushdown.Capabilities
		spec  pushdown.Spec
		check func(t *testing.T, rows [][]any)
		split int32
	}{
		"groups in the kernels": {spec: counted, split: 1, check: func(t *testing.T, rows [][]any) {
			n := map[string]int64{}
			for _, r := range rows {
				n[fmt.Sprint(r[0])] += r[1].(*big.Int).Int64()
			}
			require.Equal(t, map[string]int64{"even": 18, "odd": 22, "<nil>": 5}, n)
		}},
		"limit in the kernels": {spec: limited, split: 1, check: func(t *testing.T, rows [][]any) { require.Len(t, rows, 13) }},
		"limit in the source":  {caps: all, spec: limited, split: 1, check: func(t *testing.T, rows [][]any) { require.Len(t, rows, 13) }},
		"top-N in the kernels": {spec: top, split: 1, check: func(t *testing.T, rows [][]any) {
			require.Equal(t, []string{"77 | odd", "78 | even", "79 | odd"}, texts(rows))
		}},
		"no rows": {spec: none, check: func(t *testing.T, rows [][]any) { require.Empty(t, rows) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := &splitting{fake: fake{caps: c.caps}, pieces: 8}
			rows, _, err := splitScanner(t, source).scan(c.spec)
			require.NoError(t, err)
			c.check(t, rows)
			require.Equal(t, c.split, source.asked.Load())
		})
	}
}

// TestEngineThatSortsIsNotSplit: it has threads of its own for that.
func TestEngineThatSortsIsNotSplit(t *testing.T) {
	t.Parallel()
	top := rowsSpec("0")
	top.Limit, top.OrderBy = 3, []pushdown.SortKey{{Column: id}}
	source := &splitting{fake: fake{caps: pushdown.AllCapabilities()}, pieces: 2}
	source.scan = func(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
		source.open.Add(1)
		return &pieceReader{source: source, spec: spec, to: 3}, nil
	}
	rows, _, err := splitScanner(t, source).scan(top)
	require.NoError(t, err)
	require.Len(t, rows, 3)
	require.Zero(t, source.asked.Load())
}

// TestPieceThatFails fails the scan, and the pieces that others read are closed.
func TestPieceThatFails(t *testing.T) {
	t.Parallel()
	source := &splitting{pieces: 5, enter: func(_ context.Context, piece int) error {
		if piece == 3 {
			return status.New(status.DataLoss, "page checksum")
		}
		return nil
	}}
	_, _, err := splitScanner(t, source).scan(rowsSpec("0"))
	require.ErrorIs(t, err, &status.Error{Code: status.DataLoss})
	require.ErrorContains(t, err, `partition "0": page checksum`)
}

// TestFiltersReachAllPieces: a filter that comes while two pieces are read is
// applied to the rest of both.
func TestFiltersReachAllPieces(t *testing.T) {
	t.Parallel()
	begun, proceed := make(chan struct{}, 2), make(chan struct{})
	source := &splitting{pieces: 4, enter: func(context.Context, int) error {
		begun <- struct{}{}
		<-proceed
		return nil
	}}
	r := splitScanner(t, source)
	s, err := r.open(t.Context(), rowsSpec("0"))
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Opened()
	require.NoError(t, err)
	<-begun
	<-begun
	require.NoError(t, s.UpdateFilter(0, 1, below(5)))
	time.Sleep(500 * time.Millisecond) // nothing says that a filter has arrived
	go func() {
		for range 2 {
			<-begun
		}
	}()
	close(proceed)
	got := 0
	for {
		b, err := s.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		got += int(b.Record.NumRows())
		b.Record.Release()
	}
	require.Equal(t, 5, got)
	require.Equal(t, int64(40), s.End().RowsScanned)
}
