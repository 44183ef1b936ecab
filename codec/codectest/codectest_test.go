package codectest

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ints(values ...int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	return b.NewRecordBatch()
}

func testScanner() *Scanner {
	first := ints(1, 2)
	return &Scanner{
		Name: "s1", Epoch: "e1", Table: [2]string{"main", "t"}, Schema: first.Schema(),
		Partitions:   map[string][]arrow.RecordBatch{"0": {first, ints(3)}, "1": {ints(4)}},
		Capabilities: pushdown.NewCapabilities("agg.sum.int"),
	}
}

func dial(t *testing.T, f Fault) *codec.Client {
	t.Helper()
	client, err := codec.Dial("grpc://" + testScanner().Serve(t, f))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestHello(t *testing.T) {
	t.Parallel()
	h, err := dial(t, Fault{}).Hello(t.Context(), codec.HelloRequest{ProtocolMin: 1, ProtocolLatest: 5})
	require.NoError(t, err)
	require.Equal(t, "s1", h.Name)
	require.Equal(t, "e1", h.Epoch)
	require.Len(t, h.Tables, 1)
	require.Equal(t, []codec.Partition{{ID: "0", Rows: 3, Bytes: -1}, {ID: "1", Rows: 1, Bytes: -1}}, h.Tables[0].Partitions)
	require.Equal(t, "v", h.Tables[0].Arrow.Field(0).Name)
	require.True(t, h.Capabilities.Has("agg.sum.int"))
}

func TestHelloOfAnotherProtocol(t *testing.T) {
	t.Parallel()
	client := dial(t, Fault{})
	for _, window := range [][2]int{{2, 3}, {0, 0}} {
		_, err := client.Hello(t.Context(), codec.HelloRequest{ProtocolMin: window[0], ProtocolLatest: window[1]})
		require.Equal(t, status.FailedPrecondition, status.CodeOf(err))
		require.ErrorContains(t, err, "upgrade")
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	client, err := codec.Dial("127.0.0.1:1")
	require.NoError(t, err)
	_, err = client.Hello(t.Context(), codec.HelloRequest{ProtocolMin: 1, ProtocolLatest: 1})
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.ErrorContains(t, err, "127.0.0.1:1")
	require.NoError(t, client.Close())
	require.NoError(t, client.Close())
	_, err = codec.Dial("grpc://")
	require.Equal(t, status.InvalidArgument, status.CodeOf(err))
}

func sumSpec() pushdown.Spec {
	v := pushdown.Column{Name: "v", DataType: arrow.PrimitiveTypes.Int64}
	return pushdown.Spec{
		Table: "main.t", Partitions: []string{"0", "1"}, Limit: pushdown.NoLimit,
		Aggregates: []pushdown.Aggregate{{Name: "s", Func: pushdown.Sum, Arg: v}},
	}
}

// sum runs sumSpec and returns the sum of its rows.
func sum(t *testing.T, client *codec.Client) (total uint64, err error) {
	t.Helper()
	s, err := client.Scan(t.Context(), codec.OpenRequest{ScanID: "q/0", Spec: sumSpec(), Epoch: "e1"}, memory.DefaultAllocator)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return 0, err
		}
		require.Equal(t, codec.Partial, b.Mode)
		total += b.Record.Column(0).(*array.Decimal128).Value(0).LowBits()
		b.Record.Release()
	}
}

func TestScannerRunsSpecs(t *testing.T) {
	t.Parallel()
	total, err := sum(t, dial(t, Fault{}))
	require.NoError(t, err)
	require.EqualValues(t, 10, total)
}

// TestEveryFaultShows: no fault may give a wrong answer.
func TestEveryFaultShows(t *testing.T) {
	t.Parallel()
	for kind := Cut; kind <= WrongCounts; kind++ {
		if kind == Stall {
			continue // shows when the query's deadline does
		}
		_, err := sum(t, dial(t, Fault{Kind: kind, At: 1}))
		require.Error(t, err, "fault %d", kind)
	}
}

func TestStallEndsWithTheClient(t *testing.T) {
	t.Parallel()
	s, err := dial(t, Fault{Kind: Stall}).Scan(t.Context(), codec.OpenRequest{ScanID: "x", Spec: sumSpec()}, memory.DefaultAllocator)
	require.NoError(t, err)
	waiting := make(chan error, 1)
	go func() { _, err := s.Opened(); waiting <- err }()
	require.NoError(t, s.Close())
	require.Equal(t, status.Canceled, status.CodeOf(<-waiting))
}
