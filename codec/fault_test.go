package codec_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/codectest"
	"github.com/tributary-db/tributary/pushdown/status"
)

// sendBatches is a scan of n batches of ten rows, with a heartbeat between the
// second and the third.
func sendBatches(t testing.TB, n int64, sendErr *error) scanHandler {
	return func(s *codec.Session) error {
		spec := s.Request().Spec
		err := s.Open(codec.Opened{Mode: codec.Filtered, Epoch: "e1"}, spec.OutputSchema())
		for i := int64(0); i < n && err == nil; i++ {
			batch := rowsOf(t, memory.DefaultAllocator, i*10, 10, "text")
			err = s.Send(batch, codec.Filtered, codec.Progress{RowsScanned: i * 10})
			batch.Release()
			if i == 1 && err == nil {
				err = s.Heartbeat(15)
			}
		}
		if sendErr != nil {
			*sendErr = err
		}
		if err != nil {
			return s.Fail(err)
		}
		return s.End(n * 10)
	}
}

// messages of a stream of sendBatches with four batches: schema, batches,
// heartbeat, End.
const fourBatches = 1 + 4 + 1 + 1

func withFault(t *testing.T, f codectest.Fault) *codec.Client {
	return serve(t, sendBatches(t, 4, nil), grpc.StreamInterceptor(codectest.Interceptor(f)))
}

func TestNoFault(t *testing.T) {
	t.Parallel()
	rows, batches, err := drain(open(t, withFault(t, codectest.Fault{}), codec.OpenRequest{Epoch: "e1"}))
	require.NoError(t, err)
	require.Equal(t, 4, batches)
	requireCount(t, rows, 40)
}

func TestCutAfterEveryMessage(t *testing.T) {
	t.Parallel()
	for at := range fourBatches {
		for kind, code := range map[codectest.Kind]status.Code{codectest.Cut: status.DataLoss, codectest.Lose: status.Unavailable} {
			t.Run(fmt.Sprintf("kind=%d/at=%d", kind, at), func(t *testing.T) {
				t.Parallel()
				s := open(t, withFault(t, codectest.Fault{Kind: kind, At: at}), codec.OpenRequest{})
				_, _, err := drain(s)
				requireCode(t, err, code)
				require.ErrorContains(t, err, "scan-1")
				_, again := s.Next()
				require.Equal(t, err, again, "a broken stream stays broken")
			})
		}
	}
	t.Run("after the last", func(t *testing.T) {
		t.Parallel()
		_, _, err := drain(open(t, withFault(t, codectest.Fault{Kind: codectest.Cut, At: fourBatches}), codec.OpenRequest{}))
		require.NoError(t, err)
	})
}

// TestMessageFaults puts one fault in the place of every message: wherever it
// matters the stream must fail.
func TestMessageFaults(t *testing.T) {
	t.Parallel()
	const heartbeat = 3
	for _, kind := range []codectest.Kind{codectest.Skip, codectest.Duplicate, codectest.Truncate, codectest.Corrupt} {
		for at := range fourBatches {
			t.Run(fmt.Sprintf("kind=%d/at=%d", kind, at), func(t *testing.T) {
				t.Parallel()
				harmless := at == heartbeat && (kind == codectest.Skip || kind == codectest.Duplicate) ||
					at == fourBatches-1 && (kind == codectest.Truncate || kind == codectest.Corrupt)
				rows, _, err := drain(open(t, withFault(t, codectest.Fault{Kind: kind, At: at}), codec.OpenRequest{}))
				if harmless {
					require.NoError(t, err)
					requireCount(t, rows, 40)
					return
				}
				requireCode(t, err, status.DataLoss)
			})
		}
	}
}

func TestEchoFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind codectest.Kind
		code status.Code
		text string
	}{
		"hash":   {codectest.WrongHash, status.DataLoss, "another specification"},
		"epoch":  {codectest.StaleEpoch, status.Aborted, "restarted"},
		"schema": {codectest.WrongSchema, status.DataLoss, ""},
		"counts": {codectest.WrongCounts, status.DataLoss, "41 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := drain(open(t, withFault(t, codectest.Fault{Kind: tc.kind}), codec.OpenRequest{Epoch: "e1"}))
			requireCode(t, err, tc.code)
			require.ErrorContains(t, err, tc.text)
		})
	}
}

// TestUnconfirmedVersion: statistics must not be relied on when the scanner does
// not say that they still hold, be it older or forgetful.
func TestUnconfirmedVersion(t *testing.T) {
	t.Parallel()
	for _, kind := range []codectest.Kind{0, codectest.Amnesia} {
		_, _, err := drain(open(t, withFault(t, codectest.Fault{Kind: kind}), codec.OpenRequest{Epoch: "e1", TableVersion: "v1"}))
		requireCode(t, err, status.Aborted)
		require.ErrorContains(t, err, `did not confirm version "v1"`)
	}
}

func TestAmnesiacPeerSendsRawRows(t *testing.T) {
	t.Parallel()
	s := open(t, withFault(t, codectest.Fault{Kind: codectest.Amnesia}), codec.OpenRequest{Epoch: "e1"})
	o, err := s.Opened()
	require.NoError(t, err)
	require.Equal(t, codec.Opened{Mode: codec.Raw}, o)
	b, err := s.Next()
	require.NoError(t, err)
	require.Equal(t, codec.Raw, b.Mode)
	b.Record.Release()
	rows, _, err := drain(s)
	require.NoError(t, err)
	require.Len(t, rows, 30)
}

func TestRowsOfAnotherShape(t *testing.T) {
	t.Parallel()
	other := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	for name, tc := range map[string]struct {
		schema *arrow.Schema
		mode   codec.Mode
		text   string
	}{
		"type":    {other, codec.Filtered, `column "a" of type int32`},
		"raw":     {other, codec.Raw, `column "a" of type int32`},
		"mode":    {nil, codec.Partial, "partial rows arrived, filtered rows were wanted"},
		"columns": {arrow.NewSchema(other.Fields()[1:], nil), codec.Filtered, "rows of 1 columns"},
		"missing": {arrow.NewSchema(other.Fields()[1:], nil), codec.Raw, `without column "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(s *codec.Session) error {
				spec := s.Request().Spec
				batch := rowsOf(t, memory.DefaultAllocator, 0, 1, "x")
				if tc.schema != nil {
					batch = emptyBatch(tc.schema)
				}
				defer batch.Release()
				if err := s.Open(codec.Opened{Mode: tc.mode}, spec.OutputSchema()); err != nil {
					return s.Fail(err)
				}
				if err := s.Send(batch, tc.mode, codec.Progress{}); err != nil {
					return s.Fail(err)
				}
				return s.End(0)
			})
			_, _, err := drain(open(t, client, codec.OpenRequest{}))
			requireCode(t, err, status.DataLoss)
			require.ErrorContains(t, err, tc.text)
		})
	}
}
