package flightsql

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func infoOf(t *testing.T, s *Server, id string) *flight.FlightInfo {
	t.Helper()
	raw, err := s.handles.ticket(t.Context(), &handle{SQL: "SELECT 1", ID: id})
	require.NoError(t, err)
	ticket, err := flightsql.CreateStatementQueryTicket(raw)
	require.NoError(t, err)
	return &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}}}
}

func TestCancelFlightInfo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Alloc: memory.DefaultAllocator})
		require.NoError(t, err)
		ctx, end, err := s.queries.begin(t.Context(), "one")
		require.NoError(t, err)
		other, endOther, err := s.queries.begin(t.Context(), "two")
		require.NoError(t, err)
		go func() {
			<-ctx.Done()
			end()
		}()
		got, err := s.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: infoOf(t, s, "one")})
		require.NoError(t, err)
		require.Equal(t, flight.CancelStatusCancelled, got.Status)
		require.ErrorContains(t, context.Cause(ctx), "CancelFlightInfo")
		require.NoError(t, other.Err(), "another query goes on")
		_, _, err = s.queries.begin(t.Context(), "one")
		require.Equal(t, status.Canceled, status.CodeOf(err), "the ticket is spent")

		got, err = s.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: infoOf(t, s, "two")})
		require.NoError(t, err)
		require.Equal(t, flight.CancelStatusCancelling, got.Status, "it does not end in time")
		endOther()
		require.Empty(t, s.queries.running)
	})
}

func TestCancelFlightInfoRefuses(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Alloc: memory.DefaultAllocator})
	require.NoError(t, err)
	got, err := s.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: &flight.FlightInfo{}})
	require.NoError(t, err)
	require.Equal(t, flight.CancelStatusNotCancellable, got.Status)
	foreign, err := New(Config{Alloc: memory.DefaultAllocator})
	require.NoError(t, err)
	_, err = s.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: infoOf(t, foreign, "x")})
	require.Equal(t, status.NotFound, status.CodeOf(err))
}

type oneType struct{ code *int32 }

func (o oneType) GetDataType() *int32 { return o.code }

func TestTypeInfo(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	s, err := New(Config{Alloc: mem})
	require.NoError(t, err)
	count := func(code *int32) int64 {
		schema, rows, err := s.DoGetXdbcTypeInfo(t.Context(), oneType{code})
		require.NoError(t, err)
		batch := (<-rows).Data
		defer batch.Release()
		require.True(t, batch.Schema().Equal(schema))
		return batch.NumRows()
	}
	require.EqualValues(t, len(typeInfos), count(nil))
	timestamp, none := int32(xdbcTimestamp), int32(4711)
	require.EqualValues(t, 2, count(&timestamp))
	require.Zero(t, count(&none))
	for i, info := range typeInfos[1:] {
		require.GreaterOrEqual(t, info.code, typeInfos[i].code, "ordered by code")
	}
}
