package codec_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func emptyBatch(schema *arrow.Schema) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	return b.NewRecordBatch()
}

func TestCreditExhaustionAndResume(t *testing.T) {
	t.Parallel()
	sent := make(chan int, 100)
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		err := s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema())
		for i := 0; i < 5 && err == nil; i++ {
			batch := rowsOf(t, memory.DefaultAllocator, int64(i)*10, 10, "text")
			err = s.Send(batch, codec.Filtered, codec.Progress{})
			batch.Release()
			sent <- i
		}
		if err != nil {
			return s.Fail(err)
		}
		return s.End(0)
	})
	s := open(t, client, codec.OpenRequest{InitialCredit: 1})
	var cost, total int64
	for i := range 5 {
		b, err := s.Next()
		require.NoError(t, err)
		cost = b.WireBytes
		total += cost
		b.Record.Release()
		require.Equal(t, i, <-sent)
		if i == 4 {
			break
		}
		select {
		case n := <-sent:
			require.Fail(t, "sent without credit", "batch %d", n)
		case <-time.After(20 * time.Millisecond):
		}
		require.NoError(t, s.Grant(cost-1), "one byte short of positive")
		require.NoError(t, s.Grant(1))
	}
	_, err := s.Next()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, total, s.End().BytesSent)
}

func TestBatchLargerThanWindow(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		batch := rowsOf(t, memory.DefaultAllocator, 0, 2, strings.Repeat("x", 3<<20))
		defer batch.Release()
		if err := s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()); err != nil {
			return s.Fail(err)
		}
		if err := s.Send(batch, codec.Filtered, codec.Progress{}); err != nil {
			return s.Fail(err)
		}
		return s.End(0)
	})
	rows, batches, err := drain(open(t, client, codec.OpenRequest{InitialCredit: 1000}))
	require.NoError(t, err)
	require.Equal(t, 2, batches, "the giant row travels alone")
	requireCount(t, rows, 2)
}

func TestGiantRowIsAnError(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		batch := rowsOf(t, memory.DefaultAllocator, 0, 2, strings.Repeat("x", codec.MaxBatchBytes))
		defer batch.Release()
		if err := s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()); err != nil {
			return s.Fail(err)
		}
		_ = s.Send(batch, codec.Filtered, codec.Progress{})
		return s.End(0) // a scanner that forgets the error must not end well
	})
	rows, _, err := drain(open(t, client, codec.OpenRequest{}))
	requireCode(t, err, status.ResourceExhausted)
	require.ErrorContains(t, err, "a single row of 1342")
	require.Len(t, rows, 1)
}

func TestConcurrentSenders(t *testing.T) {
	t.Parallel()
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { alloc.AssertSize(t, 0) })
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		if err := s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()); err != nil {
			return s.Fail(err)
		}
		var wg sync.WaitGroup
		errs := make([]error, 4)
		for w := range errs {
			wg.Go(func() {
				for range 10 {
					batch := rowsOf(t, alloc, 0, 1000, "text")
					errs[w] = errors.Join(errs[w], s.Send(batch, codec.Filtered, codec.Progress{RowsScanned: 1000}))
					batch.Release()
				}
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return s.Fail(err)
		}
		return s.End(40_000)
	})
	rows, _, err := drain(open(t, client, codec.OpenRequest{InitialCredit: 5000}))
	require.NoError(t, err)
	require.Len(t, rows, 40_000)
}

// TestDictionaryAndSchemaChange mixes raw rows with a dictionary and partial
// rows in one stream.
func TestDictionaryAndSchemaChange(t *testing.T) {
	t.Parallel()
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	spec := pushdown.Spec{
		Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit,
		GroupBy:    []pushdown.NamedExpr{{Name: "k", Expr: pushdown.Column{Name: "k", DataType: dict}}},
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}},
	}
	raw := arrow.NewSchema([]arrow.Field{{Name: "k", Type: dict, Nullable: true}}, nil)
	rawBatch := func(values ...string) arrow.RecordBatch {
		b := array.NewRecordBuilder(memory.DefaultAllocator, raw)
		defer b.Release()
		for _, v := range values {
			require.NoError(t, b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(v))
		}
		return b.NewRecordBatch()
	}
	client := serve(t, func(s *codec.Session) error {
		partial := emptyBatch(spec.OutputSchema())
		err := s.Open(codec.Opened{Mode: codec.Partial}, spec.OutputSchema())
		for _, step := range []struct {
			mode codec.Mode
			rec  arrow.RecordBatch
		}{
			{codec.Partial, partial}, {codec.Raw, rawBatch("a", "b")}, {codec.Raw, rawBatch("a", "b")},
			{codec.Raw, rawBatch("c")}, {codec.Partial, partial}, {codec.Raw, rawBatch("d")},
		} {
			if err == nil {
				err = s.Send(step.rec, step.mode, codec.Progress{})
			}
		}
		if err != nil {
			return s.Fail(err)
		}
		return s.End(0)
	})
	s := open(t, client, codec.OpenRequest{Spec: spec})
	var got []string
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got = append(got, b.Mode.String())
		if b.Mode == codec.Raw {
			col := b.Record.Column(0).(*array.Dictionary)
			for i := range col.Len() {
				got = append(got, col.Dictionary().(*array.String).Value(col.GetValueIndex(i)))
			}
		}
		b.Record.Release()
	}
	require.Equal(t, strings.Fields("partial raw a b raw a b raw c partial raw d"), got)
	require.EqualValues(t, 6, s.End().Batches)
}

func TestCancelReachesTheScanner(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(context.CancelFunc, *codec.Scan, *codec.Client) error{
		"context": func(cancel context.CancelFunc, _ *codec.Scan, _ *codec.Client) error { cancel(); return nil },
		"close":   func(_ context.CancelFunc, s *codec.Scan, _ *codec.Client) error { return s.Close() },
		"loss":    func(_ context.CancelFunc, _ *codec.Scan, c *codec.Client) error { return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sendErr error
			stopped := make(chan struct{})
			client := serve(t, func(s *codec.Session) error {
				defer close(stopped)
				return sendBatches(t, 1000, &sendErr)(s) // stops for want of credit
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := client.Scan(ctx, codec.OpenRequest{ScanID: "x", Spec: testSpec(), InitialCredit: 1}, memory.DefaultAllocator)
			require.NoError(t, err)
			b, err := s.Next()
			require.NoError(t, err)
			b.Record.Release()
			waiting := make(chan error, 1)
			go func() { _, err := s.Next(); waiting <- err }()
			require.NoError(t, stop(cancel, s, client))
			select {
			case <-stopped:
			case <-time.After(time.Second):
				require.Fail(t, "the scanner still runs after a second")
			}
			require.Error(t, <-waiting)
			require.Equal(t, status.Canceled, status.CodeOf(sendErr), "%v", sendErr)
			require.NoError(t, s.Close())
			require.NoError(t, s.Grant(1), "too late, but no fault")
		})
	}
}

func TestScannerFailure(t *testing.T) {
	t.Parallel()
	broken := status.New(status.OutOfRange, "sum overflows in partition 7")
	for name, after := range map[string]int64{"before opening": -1, "at once": 0, "later": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(s *codec.Session) error {
				if after >= 0 {
					spec := s.Request().Spec
					require.NoError(t, s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()))
				}
				for i := range after {
					batch := rowsOf(t, memory.DefaultAllocator, i, 1, "")
					require.NoError(t, s.Send(batch, codec.Filtered, codec.Progress{}))
					batch.Release()
				}
				return s.Fail(broken)
			})
			s := open(t, client, codec.OpenRequest{})
			rows, _, err := drain(s)
			requireCode(t, err, status.OutOfRange)
			require.ErrorContains(t, err, broken.Message)
			require.Len(t, rows, int(max(after, 0)))
			var own *status.Error
			require.ErrorAs(t, err, &own)
			require.True(t, own.Remote)
		})
	}
}

// TestFailWakesSenders: one worker fails while another waits for credit.
func TestFailWakesSenders(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		var sendErr error
		done := make(chan struct{})
		go func() { defer close(done); _ = sendBatches(t, 100, &sendErr)(s) }()
		time.Sleep(20 * time.Millisecond)
		err := s.Fail(status.New(status.NotFound, "a file is gone"))
		<-done
		require.Error(t, sendErr)
		return err
	})
	s := open(t, client, codec.OpenRequest{InitialCredit: 1})
	b, err := s.Next() // and grants nothing
	require.NoError(t, err)
	b.Record.Release()
	_, err = s.Next()
	requireCode(t, err, status.NotFound)
}

func TestControlMessages(t *testing.T) {
	t.Parallel()
	column := testSpec().Columns[0]
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		require.Equal(t, pushdown.NoLimit, s.Remaining())
		require.NoError(t, s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()))
		require.NoError(t, s.Heartbeat(1))
		update := <-s.Filters()
		require.Equal(t, codec.FilterUpdate{Slot: 2, Generation: 3, Expr: pushdown.IsNull{Arg: column}}, update)
		require.Equal(t, int64(17), s.Remaining())
		require.Error(t, s.Open(codec.Opened{}, spec.OutputSchema()), "twice")
		return s.End(99)
	})
	s := open(t, client, codec.OpenRequest{})
	_, err := s.Opened()
	require.NoError(t, err)
	require.NoError(t, s.Limit(17))
	require.NoError(t, s.UpdateFilter(2, 3, pushdown.IsNull{Arg: column}))
	require.Error(t, s.UpdateFilter(2, 4, nil))
	_, err = s.Next()
	require.ErrorIs(t, err, io.EOF)
	require.EqualValues(t, 99, s.RowsScanned())
	_, err = s.Opened()
	require.NoError(t, err, "the echo stays known")
}

func TestEndTwice(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		require.NoError(t, s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()))
		require.NoError(t, s.End(0))
		require.Error(t, s.Heartbeat(0))
		require.Error(t, s.End(0))
		return nil
	})
	_, _, err := drain(open(t, client, codec.OpenRequest{}))
	require.NoError(t, err)
}

func TestEndWithoutOpen(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		batch := rowsOf(t, memory.DefaultAllocator, 0, 1, "")
		defer batch.Release()
		require.Error(t, s.Send(batch, codec.Filtered, codec.Progress{}))
		return s.End(0)
	})
	_, _, err := drain(open(t, client, codec.OpenRequest{}))
	requireCode(t, err, status.Internal)
}

// TestBatchesGrow: the first batch is small, later ones reach the target.
func TestBatchesGrow(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		batch := rowsOf(t, memory.DefaultAllocator, 0, 200_000, "some text")
		defer batch.Release()
		require.NoError(t, s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()))
		require.NoError(t, s.Send(batch, codec.Filtered, codec.Progress{}))
		return s.End(0)
	})
	s := open(t, client, codec.OpenRequest{BatchBytes: 1 << 20})
	last := int64(0)
	for i := 0; ; i++ {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.LessOrEqual(t, b.WireBytes, int64(1<<20))
		if i < 4 {
			require.Greater(t, b.WireBytes, last)
			require.LessOrEqual(t, b.WireBytes, int64(codec.FirstBatchBytes)<<i)
		}
		last = b.WireBytes
		b.Record.Release()
	}
}

// TestBadOpens speaks to a scanner without this package's client.
func TestBadOpens(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data *flight.FlightData
		text string
	}{
		"descriptor": {&flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{Cmd: []byte("other")}}, "tributary.scan.v1"},
		"empty":      {&flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{Cmd: []byte(codec.ScanDescriptor)}}, "must begin with Open"},
		"garbage": {&flight.FlightData{
			FlightDescriptor: &flight.FlightDescriptor{Cmd: []byte(codec.ScanDescriptor)}, AppMetadata: []byte{0xff, 0xff},
		}, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := rawConn(t, &testScanner{handle: func(*codec.Session) error { return errors.New("accepted") }})
			stream, err := flight.NewFlightServiceClient(conn).DoExchange(t.Context())
			require.NoError(t, err)
			require.NoError(t, stream.Send(tc.data))
			_, err = stream.Recv()
			require.ErrorContains(t, err, tc.text)
			require.ErrorContains(t, err, "InvalidArgument")
		})
	}
}

// TestEnoughIsNoFailure: a sender that waits for credit hears that no more rows
// are wanted, and the stream is complete with what was sent.
func TestEnoughIsNoFailure(t *testing.T) {
	t.Parallel()
	client := serve(t, func(s *codec.Session) error {
		spec := s.Request().Spec
		batch := rowsOf(t, memory.DefaultAllocator, 0, 10, "text")
		defer batch.Release()
		require.NoError(t, s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()))
		require.NoError(t, s.Send(batch, codec.Filtered, codec.Progress{RowsScanned: 10}))
		require.ErrorIs(t, s.Send(batch, codec.Filtered, codec.Progress{RowsScanned: 20}), codec.ErrEnough)
		<-s.Enough()
		require.Zero(t, s.Remaining())
		require.ErrorIs(t, s.Send(batch, codec.Filtered, codec.Progress{RowsScanned: 30}), codec.ErrEnough)
		return s.End(30)
	})
	s := open(t, client, codec.OpenRequest{InitialCredit: 1})
	b, err := s.Next()
	require.NoError(t, err)
	b.Record.Release()
	require.NoError(t, s.Limit(3), "a first word")
	require.NoError(t, s.Limit(0))
	require.NoError(t, s.Limit(0), "twice")
	_, err = s.Next()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, int64(30), s.End().RowsScanned)
	require.Equal(t, int64(10), s.End().Rows)
}
