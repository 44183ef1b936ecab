package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
)

// The fields that came with the versions of tables have golden files of their
// own: the older files stay what older peers send.
func versionedOpen() OpenRequest {
	r := fullOpen(1)
	r.TableVersion = "v1"
	return r
}

func versionedOpened() *pb.ServerMessage {
	return openedToProto(Opened{SpecHash: 1, Mode: Filtered, Epoch: "e1", ScanID: "s", TableVersion: "v1"})
}

func versionedHello() *Hello {
	h := fullHello()
	h.Tables[0].Version = "v1"
	return h
}

func advertisedHello() *Hello {
	h := versionedHello()
	h.Advertise = "grpc+tls://s0:8816"
	return h
}

func TestGoldenVersions(t *testing.T) {
	t.Parallel()
	open, err := encodeOpen(versionedOpen())
	require.NoError(t, err)
	opened, err := encodeMessage(versionedOpened())
	require.NoError(t, err)
	hello, err := EncodeHello(versionedHello())
	require.NoError(t, err)
	advertised, err := EncodeHello(advertisedHello())
	require.NoError(t, err)
	for name, data := range map[string][]byte{"open_version": open, "opened_version": opened, "hello_version": hello, "hello_advertise": advertised} {
		requireGolden(t, name, data)
	}
	request, err := decodeOpen(open)
	require.NoError(t, err)
	require.Equal(t, "v1", request.TableVersion)
	var echo pb.ServerMessage
	require.NoError(t, decodeMessage(opened, &echo))
	require.True(t, proto.Equal(versionedOpened(), &echo))
	o, err := openedFromProto(echo.GetOpened())
	require.NoError(t, err)
	require.Equal(t, "v1", o.TableVersion)
	h, err := DecodeHello(hello)
	require.NoError(t, err)
	requireHello(t, versionedHello(), h)
	h, err = DecodeHello(advertised)
	require.NoError(t, err)
	requireHello(t, advertisedHello(), h)
}

// TestSchemaVersions: they travel, and peers that do not know them see what they
// always saw.
func TestSchemaVersions(t *testing.T) {
	t.Parallel()
	request := versionedOpen()
	request.SchemaVersion = "s1"
	open, err := encodeOpen(request)
	require.NoError(t, err)
	require.NotEqual(t, golden(t, "open_version"), open)
	got, err := decodeOpen(open)
	require.NoError(t, err)
	require.Equal(t, "s1", got.SchemaVersion)
	h := versionedHello()
	h.Tables[0].SchemaVersion = "s1"
	hello, err := EncodeHello(h)
	require.NoError(t, err)
	back, err := DecodeHello(hello)
	require.NoError(t, err)
	require.Equal(t, "s1", back.Tables[0].SchemaVersion)
	require.Empty(t, back.Tables[1].SchemaVersion)
}
