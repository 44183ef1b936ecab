//go:build clients

package goclient

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// command packs a Flight SQL command.
func command(t testing.TB, m proto.Message) []byte {
	t.Helper()
	packed, err := anypb.New(m)
	require.NoError(t, err)
	raw, err := proto.Marshal(packed)
	require.NoError(t, err)
	return raw
}

func TestPreparedStatement(t *testing.T) {
	ctx, client := connect(t)
	p, err := client.Prepare(ctx, "SELECT id FROM events WHERE id = 5")
	require.NoError(t, err)
	require.Equal(t, 1, p.DatasetSchema().NumFields(), "JDBC takes a statement without a schema for an update")
	info, err := p.Execute(ctx)
	_, first, err := fetch(ctx, client, info, err)
	require.NoError(t, err)
	require.Equal(t, "5", first)

	handle := p.Handle()
	require.NoError(t, p.Close(ctx))
	cmd := command(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: handle})
	_, err = client.Client.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd})
	require.Contains(t, []codes.Code{codes.NotFound, codes.InvalidArgument}, status.Code(err), "a closed handle is gone: %v", err)
}

func TestPreparedStatementWithParameters(t *testing.T) {
	ctx, client := connect(t)
	p, err := client.Prepare(ctx, "SELECT name FROM events WHERE id = ? AND k = ?")
	require.NoError(t, err)
	defer p.Close(ctx)
	require.Equal(t, []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32}, types(p.ParameterSchema()))
	for _, id := range []int64{42, 7} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, p.ParameterSchema())
		b.Field(0).(*array.Int64Builder).Append(id)
		b.Field(1).(*array.Int32Builder).Append(0)
		batch := b.NewRecordBatch()
		p.SetParameters(batch)
		batch.Release()
		info, err := p.Execute(ctx)
		rows, _, err := fetch(ctx, client, info, err)
		require.NoError(t, err)
		require.EqualValues(t, 1, rows)
	}
}

func types(s *arrow.Schema) []arrow.DataType {
	out := make([]arrow.DataType, s.NumFields())
	for i, f := range s.Fields() {
		out[i] = f.Type
	}
	return out
}

func TestPreparedStatementErrors(t *testing.T) {
	ctx, client := connect(t)
	_, err := client.Prepare(ctx, "SELEC 1")
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	_, err = client.Prepare(ctx, "SELECT * FROM no_such_table")
	require.Contains(t, []codes.Code{codes.NotFound, codes.InvalidArgument}, status.Code(err), "%v", err)
	require.ErrorContains(t, err, "no_such_table")
}
