package scanner_test

import (
	"context"
	"errors"
	"io"
	"math/big"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/scanner"
)

// stepping yields the ids from 0, ten a batch, one batch whenever it is told to.
func stepping(t *testing.T, caps pushdown.Capabilities) (source *fake, step func(), end func()) {
	mem := checked(t)
	turn, at := make(chan bool), 0
	source, _ = reading(func(ctx context.Context) (arrow.RecordBatch, error) {
		select {
		case more := <-turn:
			if !more {
				return nil, io.EOF
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		at += 10
		return numbers(mem, at-10, 10), nil
	})
	source.caps = caps
	return source, func() { turn <- true }, func() { close(turn) }
}

// TestDynamicFilters come while a scan runs, in the kernels of the scanner or
// behind a source that did all the work.
func TestDynamicFilters(t *testing.T) {
	t.Parallel()
	all := pushdown.AllCapabilities()
	topN := rowsSpec("0")
	topN.Limit, topN.OrderBy = 1000, []pushdown.SortKey{{Column: id}}
	limited := rowsSpec("0")
	limited.Limit = 1000
	filtered := rowsSpec("0")
	filtered.Filter = []pushdown.Expr{below(1000)}
	sum := countSpec("0")
	sum.Aggregates = append(sum.Aggregates, pushdown.Aggregate{Name: "first", Func: pushdown.Min, Arg: id})
	for name, c := range map[string]struct {
		caps pushdown.Capabilities
		spec pushdown.Spec
		want int64 // of 20 rows, after a filter that 3 of the last ten pass
	}{
		"rows":                     {pushdown.Capabilities{}, rowsSpec("0"), 13},
		"filter in the kernels":    {pushdown.Capabilities{}, filtered, 13},
		"top-N in the kernels":     {pushdown.Capabilities{}, topN, 13},
		"aggregate in the kernels": {pushdown.Capabilities{}, sum, 13},
		"source does all":          {all, filtered, 13},
		"top-N in the source":      {all, topN, 13},
		"limit in the source":      {all, limited, 20},
		"source that has grouped":  {all, sum, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, step, end := stepping(t, c.caps)
			if len(c.spec.Aggregates) > 0 && c.caps.Has(pushdown.CapAggCount) {
				source.scan = grouped(source.scan)
			}
			cfg := table(source)
			cfg.Workers = 1
			r := start(t, checked(t), cfg)
			s, err := r.open(t.Context(), c.spec)
			require.NoError(t, err)
			defer s.Close()
			_, err = s.Opened()
			require.NoError(t, err)
			step()
			require.NoError(t, s.UpdateFilter(0, 1, below(1)), "replaced")
			require.NoError(t, s.UpdateFilter(0, 3, below(13)))
			require.NoError(t, s.UpdateFilter(0, 2, below(0)), "late")
			require.NoError(t, s.UpdateFilter(7, 1, pushdown.IsNull{Arg: pushdown.Column{Name: "unknown", DataType: arrow.BinaryTypes.String}}))
			time.Sleep(500 * time.Millisecond) // nothing says that a filter has arrived
			step()
			end()
			got := int64(0)
			for {
				b, err := s.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				for _, row := range pushdowntest.Rows(b.Record) {
					if b.Mode == codec.Partial {
						got += row[1].(*big.Int).Int64()
					} else {
						got++
					}
				}
				b.Record.Release()
			}
			require.Equal(t, c.want, got)
		})
	}
}

// grouped makes a source count: a group a batch.
func grouped(scan func(context.Context, pushdown.Spec) (scanner.Reader, error)) func(context.Context, pushdown.Spec) (scanner.Reader, error) {
	return func(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
		r, err := scan(ctx, rowsSpec("0"))
		return counting{r, spec.OutputSchema()}, err
	}
}

type counting struct {
	scanner.Reader
	out *arrow.Schema
}

func (c counting) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := c.Reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	return pushdowntest.Batch(memory.DefaultAllocator, c.out, []any{"x", int(b.NumRows()), 0}), nil
}
