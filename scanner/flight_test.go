package scanner_test

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
)

func (r *running) get(ticket string) (*arrow.Schema, [][]any, error) {
	r.t.Helper()
	stream, err := r.flightClient().DoGet(r.t.Context(), &flight.Ticket{Ticket: []byte(ticket)})
	require.NoError(r.t, err)
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		return nil, nil, grpcstatus.FromGRPC(err)
	}
	defer reader.Release()
	rows := [][]any{}
	for {
		batch, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return reader.Schema(), rows, nil
		}
		if err != nil {
			return nil, rows, grpcstatus.FromGRPC(err)
		}
		rows = append(rows, pushdowntest.Rows(batch)...)
	}
}

func TestDoGet(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	cfg := table(memTable(t, mem, 250, 0, 7))
	cfg.Disable = []string{"all"}
	r := start(t, mem, cfg)
	for ticket, want := range map[string]struct{ rows, columns int }{
		"t": {257, 2}, " main.t\n": {257, 2}, `{"table": "t", "partitions": ["2"]}`: {7, 2},
		`{"table": "main.t", "columns": ["g"]}`: {257, 1}, `{"table": "t", "partitions": ["1"]}`: {0, 2},
		`{"table": "t", "columns": ["g", "id"]}`: {257, 2},
	} {
		got, rows, err := r.get(ticket)
		require.NoError(t, err, ticket)
		require.Len(t, rows, want.rows, ticket)
		require.Equal(t, want.columns, got.NumFields(), ticket)
	}
	eventually(t, func() bool { return r.OpenScans() == 0 })
}

func TestDoGetErrors(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem, 3)))
	for ticket, want := range map[string]string{
		"nope": `no table "nope"`, "": `no table ""`, `{"table": "t", "rows": 5}`: "the ticket must be",
		`{"table": "t"} x`: "text after the JSON object", `{"table": "t", "partitions": ["9"]}`: `no partition "9"`,
		`{"table": "t", "columns": ["x"]}`: `no column "x"`,
	} {
		_, _, err := r.get(ticket)
		require.ErrorContains(t, err, want, ticket)
	}
	panicking := start(t, mem, table(&fake{}))
	_, _, err := panicking.get("t")
	require.ErrorIs(t, err, &status.Error{Code: status.Internal})
}

func TestDoGetOfAnEmptyTable(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem)))
	got, rows, err := r.get("t")
	require.NoError(t, err)
	require.Empty(t, rows)
	require.True(t, schema.Equal(got))
}

func TestDoGetOfDictionaries(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}
	fields := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dict}}, nil)
	part := memsource.Partition{ID: "0"}
	for _, words := range [][][]any{{{"a"}, {"b"}}, {{"c"}, {nil}, {"a"}}} {
		b := pushdowntest.Batch(mem, fields, words...)
		defer b.Release()
		part.Batches = append(part.Batches, b)
	}
	source, err := memsource.New(fields, []memsource.Partition{part})
	require.NoError(t, err)
	t.Cleanup(source.Release)
	r := start(t, mem, table(source))
	_, rows, err := r.get("t")
	require.NoError(t, err)
	require.Equal(t, []string{"NULL", "a", "a", "b", "c"}, texts(rows))
}

func TestListAndDescribe(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	cfg := table(memTable(t, mem, 5, 6))
	cfg.Tables = append(cfg.Tables,
		scanner.Table{Schema: "other", Name: "u", Source: &fake{}},
		scanner.Table{Name: "broken", Source: &fake{schemaErr: status.New(status.DataLoss, "gone")}})
	r := start(t, mem, cfg)
	c := r.flightClient()
	stream, err := c.ListFlights(t.Context(), &flight.Criteria{})
	require.NoError(t, err)
	var paths [][]string
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		paths = append(paths, info.GetFlightDescriptor().GetPath())
		got, err := flight.DeserializeSchema(info.GetSchema(), memory.DefaultAllocator)
		require.NoError(t, err)
		require.True(t, schema.Equal(got))
	}
	require.Equal(t, [][]string{{"main", "t"}, {"other", "u"}}, paths)

	info, err := c.GetFlightInfo(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"t"}})
	require.NoError(t, err)
	require.EqualValues(t, 11, info.GetTotalRecords())
	require.Len(t, info.GetEndpoint(), 1)
	_, rows, err := r.get(string(info.GetEndpoint()[0].GetTicket().GetTicket()))
	require.NoError(t, err)
	require.Len(t, rows, 11)
	info, err = c.GetFlightInfo(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte("other.u")})
	require.NoError(t, err)
	require.EqualValues(t, -1, info.GetTotalRecords())

	result, err := c.GetSchema(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(`{"table":"t","columns":["g"]}`)})
	require.NoError(t, err)
	got, err := flight.DeserializeSchema(result.GetSchema(), memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, 1, got.NumFields())
	for _, d := range []*flight.FlightDescriptor{{Type: flight.DescriptorPATH, Path: []string{"broken"}}, {}} {
		_, err = c.GetSchema(t.Context(), d)
		require.Error(t, err)
		_, err = c.GetFlightInfo(t.Context(), d)
		require.Error(t, err)
	}
}

func TestHello(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	source := memTable(t, mem, 5, 6)
	cfg := table(source)
	cfg.Disable = []string{"agg"}
	cfg.Tables = append(cfg.Tables, scanner.Table{Name: "broken", Source: &fake{schemaErr: status.New(status.DataLoss, "column \"c\" differs")}})
	r := start(t, mem, cfg)
	c := r.client()
	ask := codec.HelloRequest{ProtocolMin: codec.ProtocolMin, ProtocolLatest: codec.ProtocolLatest}
	first, err := c.Hello(t.Context(), ask)
	require.NoError(t, err)
	require.Equal(t, "s1", first.Name)
	require.Equal(t, r.Epoch(), first.Epoch)
	require.Equal(t, r.Capabilities().Names(), first.Capabilities.Names())
	require.False(t, first.Capabilities.Has("agg.count"))
	require.True(t, first.Capabilities.Has("filter"))
	require.Len(t, first.Tables, 2)
	require.True(t, schema.Equal(first.Tables[0].Arrow))
	for i, want := range []codec.Partition{{ID: "0", Rows: 5, Bytes: -1}, {ID: "1", Rows: 6, Bytes: -1}} {
		got := first.Tables[0].Partitions[i]
		got.Columns = nil
		require.Equal(t, want, got)
	}
	require.Empty(t, first.Tables[0].Err)
	require.Contains(t, first.Tables[1].Err, `column "c" differs`)

	again, err := c.Hello(t.Context(), ask)
	require.NoError(t, err)
	require.Equal(t, first.Version, again.Version)
	source.Remove("1")
	changed, err := c.Hello(t.Context(), ask)
	require.NoError(t, err)
	require.Greater(t, changed.Version, first.Version)
	require.Len(t, changed.Tables[0].Partitions, 1)
}

func TestHelloOfAnotherProtocol(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem)))
	_, err := r.client().Hello(t.Context(), codec.HelloRequest{ProtocolMin: codec.ProtocolLatest + 1, ProtocolLatest: codec.ProtocolLatest + 2})
	require.ErrorIs(t, err, &status.Error{Code: status.FailedPrecondition})
	require.ErrorContains(t, err, "upgrade the older one")
}

func TestActions(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem)))
	c := r.flightClient()
	stream, err := c.DoAction(t.Context(), &flight.Action{Type: "nope"})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.ErrorContains(t, err, `unknown action "nope"`)
	list, err := c.ListActions(t.Context(), &flight.Empty{})
	require.NoError(t, err)
	action, err := list.Recv()
	require.NoError(t, err)
	require.Equal(t, codec.HelloAction, action.GetType())
	_, err = list.Recv()
	require.Equal(t, io.EOF, err)
}
