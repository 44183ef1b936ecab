package codec

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

var update = flag.Bool("update", false, "rewrite testdata; existing files are what released peers send, so only add to them")

// goldenDir holds messages as protocol version 1 sends them.
const goldenDir = "testdata/v1"

func fullOpen(i int) OpenRequest {
	return OpenRequest{ScanID: "q_1/s0", Spec: everySpec()[i], Epoch: "e1", InitialCredit: 1 << 40, BatchBytes: 1 << 20}
}

// serverMessages has one of each kind.
func serverMessages() map[string]*pb.ServerMessage {
	t := newTally()
	t.add([]byte("123456789"))
	t.bytes, t.rows, t.batches, t.rowsScanned = 9, 3, 2, 77
	return map[string]*pb.ServerMessage{
		"opened":    openedToProto(Opened{SpecHash: 1<<63 + 5, Mode: Partial, Epoch: "e1", ScanID: "q_1/s0"}),
		"batch":     {Message: &pb.ServerMessage_Batch{Batch: &pb.Batch{Mode: pb.Mode_MODE_FILTERED, Sequence: 7, RowsScanned: 99}}},
		"heartbeat": {Message: &pb.ServerMessage_Heartbeat{Heartbeat: &pb.Heartbeat{RowsScanned: 5}}},
		"end":       t.toProto(),
	}
}

// clientMessages has one of each kind but Open.
func clientMessages(t testing.TB) map[string]*pb.ClientMessage {
	e, err := exprToProto(everyExpr()[5])
	require.NoError(t, err)
	return map[string]*pb.ClientMessage{
		"credit": {Message: &pb.ClientMessage_Credit{Credit: &pb.Credit{Bytes: 1 << 33}}},
		"limit":  {Message: &pb.ClientMessage_Limit{Limit: &pb.Limit{Remaining: 3}}},
		"filter": {Message: &pb.ClientMessage_Filter{Filter: &pb.Filter{Slot: 1, Generation: 2, Expr: e}}},
		"cancel": {Message: &pb.ClientMessage_Cancel{Cancel: &pb.Cancel{}}},
	}
}

// goldenFiles is everything that the protocol says, encoded.
func goldenFiles(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	add := func(name string, data []byte, err error) {
		require.NoError(t, err)
		files[name+".bin"] = data
	}
	for i, name := range []string{"open_rows", "open_groups", "open_empty", "open_reduced"} {
		data, err := encodeOpen(fullOpen(i))
		add(name, data, err)
	}
	for name, m := range serverMessages() {
		data, err := encodeMessage(m)
		add(name, data, err)
	}
	for name, m := range clientMessages(t) {
		data, err := encodeMessage(m)
		add(name, data, err)
	}
	data, err := EncodeHello(fullHello())
	add("hello", data, err)
	data, err = EncodeHelloRequest(HelloRequest{ProtocolMin: 1, ProtocolLatest: 2, Coordinator: "c1"})
	add("hello_request", data, err)
	return files
}

// TestGoldenBytes: what this version sends is what the released ones send.
func TestGoldenBytes(t *testing.T) {
	t.Parallel()
	for name, data := range goldenFiles(t) {
		path := filepath.Join(goldenDir, name)
		if *update {
			require.NoError(t, os.WriteFile(path, data, 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, data, "%s: the bytes changed; if that is meant, it needs a new protocol version", name)
	}
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(goldenDir, name+".bin"))
	require.NoError(t, err)
	return data
}

// requireGolden compares a message with its golden file, which -update writes.
func requireGolden(t testing.TB, name string, data []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(goldenDir, name+".bin"), data, 0o644))
	}
	require.Equal(t, golden(t, name), data, name)
}

// TestGoldenDecodes: what released peers send means what it meant.
func TestGoldenDecodes(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"open_rows", "open_groups", "open_empty", "open_reduced"} {
		got, err := decodeOpen(golden(t, name))
		require.NoError(t, err)
		want := fullOpen(i)
		require.Equal(t, want.Spec.String(), got.Spec.String())
		got.Spec, want.Spec = everySpec()[2], everySpec()[2]
		require.Equal(t, want, got)
	}
	for name, want := range serverMessages() {
		var got pb.ServerMessage
		require.NoError(t, decodeMessage(golden(t, name), &got))
		require.True(t, proto.Equal(want, &got), name)
	}
	for name, want := range clientMessages(t) {
		var got pb.ClientMessage
		require.NoError(t, decodeMessage(golden(t, name), &got))
		require.True(t, proto.Equal(want, &got), name)
	}
	hello, err := DecodeHello(golden(t, "hello"))
	require.NoError(t, err)
	requireHello(t, fullHello(), hello)
	request, err := DecodeHelloRequest(golden(t, "hello_request"))
	require.NoError(t, err)
	require.Equal(t, HelloRequest{ProtocolMin: 1, ProtocolLatest: 2, Coordinator: "c1"}, request)
}

func requireHello(t *testing.T, want, got *Hello) {
	t.Helper()
	for i := range want.Tables {
		a, b := want.Tables[i].Arrow, got.Tables[i].Arrow
		require.Equal(t, a == nil, b == nil)
		if a != nil {
			require.True(t, a.Equal(b), "%s\n%s", a, b)
		}
		got.Tables[i].Arrow = a
	}
	require.Equal(t, want, got)
}

// TestChecksumIsCRC32C pins the checksum by its standard check value.
func TestChecksumIsCRC32C(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 0xE3069283, serverMessages()["end"].GetEnd().GetChecksum())
}

func TestHelloSurvivesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	unknown := &pb.Literal{Type: &pb.DataType{Kind: 9999}}
	data, err := encodeMessage(&pb.Hello{Tables: []*pb.Table{
		{Name: "future", ArrowSchema: []byte("not arrow at all")},
		{Name: "silent"},
		{Name: "ok", ArrowSchema: encodeSchema(arrow.NewSchema(nil, nil)), Partitions: []*pb.Partition{
			{Id: "0", Rows: proto.Int64(-5), Columns: []*pb.ColumnStats{{Name: "c", Min: unknown, Max: unknown}}},
		}},
	}})
	require.NoError(t, err)
	h, err := DecodeHello(data)
	require.NoError(t, err)
	require.NotEmpty(t, h.Tables[0].Err)
	require.Equal(t, "the scanner announced no schema", h.Tables[1].Err)
	require.Empty(t, h.Tables[2].Err)
	require.Equal(t, Partition{ID: "0", Rows: -1, Bytes: -1, Columns: map[string]ColumnStats{"c": {Nulls: -1}}}, h.Tables[2].Partitions[0])
	_, err = DecodeHello([]byte{0xff})
	require.Error(t, err)
}

// TestNewerPeers: fields that this version does not know are ignored.
func TestNewerPeers(t *testing.T) {
	t.Parallel()
	future := protowire.AppendString(protowire.AppendTag(nil, 500, protowire.BytesType), "from the future")
	open, err := decodeOpen(append(golden(t, "open_groups"), future...))
	require.NoError(t, err)
	want := fullOpen(1)
	require.Equal(t, want.Spec.String(), open.Spec.String())
	hello, err := DecodeHello(append(golden(t, "hello"), future...))
	require.NoError(t, err)
	requireHello(t, fullHello(), hello)
	s := &Session{credit: newCredit(0)}
	require.NoError(t, s.control(controlFrame(future)), "a control message of unknown kind")
	require.NoError(t, s.control(controlFrame(append(golden(t, "credit"), future...))))
	require.EqualValues(t, 1<<33, s.credit.balance)
}

func TestProtocolWindow(t *testing.T) {
	t.Parallel()
	for _, version := range []uint32{ProtocolMin - 1, ProtocolLatest + 1} {
		data, err := encodeMessage(&pb.ClientMessage{Message: &pb.ClientMessage_Open{Open: &pb.Open{Protocol: version}}})
		require.NoError(t, err)
		_, err = decodeOpen(data)
		require.Equal(t, status.FailedPrecondition, status.CodeOf(err))
	}
}

func TestBadOpenRequests(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*OpenRequest){
		"credit":     func(r *OpenRequest) { r.InitialCredit = -1 },
		"batch size": func(r *OpenRequest) { r.BatchBytes = -1 },
	} {
		req := fullOpen(1)
		change(&req)
		data, err := encodeOpen(req)
		require.NoError(t, err)
		_, err = decodeOpen(data)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), name)
	}
	req := fullOpen(1)
	req.Spec.Table = "not utf-8: \xff"
	_, err := encodeOpen(req)
	require.Equal(t, status.InvalidArgument, status.CodeOf(err))
	require.Error(t, decodeMessage(make([]byte, maxControlBytes+1), &pb.ClientMessage{}))
}
