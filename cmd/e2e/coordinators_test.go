package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
)

const sharedKey = "a secret of two coordinators"

// coordinate serves a coordinator over scanners that run, and returns it with
// its address.
func coordinate(t testing.TB, addrs []string, cfg server.Config) (*server.Coordinator, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cfg.Scanners, cfg.Logger = addrs, zerolog.Nop()
	if cfg.Refresh == 0 {
		cfg.Refresh = time.Minute
	}
	if cfg.Alloc == nil {
		cfg.Alloc = memory.DefaultAllocator
	}
	cfg.Engine = engine.Config{Warm: 1, Threads: 2}
	c, err := server.New(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Catalog().WaitReady(ctx))
	return c, serve(t, c)
}

// numberedScanners serve t(v, k), v = 1…15000.
func numberedScanners(t *testing.T, n int) (addrs []string) {
	t.Helper()
	for i := range n {
		addrs = append(addrs, startScanner(t, node{name: string(rune('a' + i)), tables: []scanner.Table{{Name: "t", Source: numberedSource(t, i, n)}}}, memory.DefaultAllocator))
	}
	return addrs
}

// int64Row is a batch of one row of BIGINTs, to bind.
func int64Row(t *testing.T, values ...int64) arrow.RecordBatch {
	t.Helper()
	fields := make([]arrow.Field, len(values))
	for i := range values {
		fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: arrow.PrimitiveTypes.Int64}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, v := range values {
		b.Field(i).(*array.Int64Builder).Append(v)
	}
	return b.NewRecordBatch()
}

// TestTwoCoordinators: what one made, another with the same key serves, and a
// third one with another key does not.
func TestTwoCoordinators(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	addrs := numberedScanners(t, 2)
	_, one1 := coordinate(t, addrs, server.Config{Key: []byte(sharedKey)})
	_, two := coordinate(t, addrs, server.Config{Key: []byte(sharedKey)})
	_, foreign := coordinate(t, addrs, server.Config{Key: []byte("another secret altogether")})
	first, second, third := connect(t, one1), connect(t, two), connect(t, foreign)

	_, err := first.ExecuteUpdate(t.Context(), "SET result_types = 'raw'")
	require.NoError(t, err)
	info, err := first.Execute(t.Context(), "SELECT 7::UTINYINT AS u, count(*) AS n FROM t")
	require.NoError(t, err)
	got, err := fetchInfo(t.Context(), second, info)
	require.NoError(t, err)
	require.Equal(t, "7 15000", one(t, d, got))
	require.Equal(t, arrow.PrimitiveTypes.Uint8, got.schema.Field(0).Type, "the ticket carries the settings of its session")
	got.release()
	_, err = fetchInfo(t.Context(), third, info)
	require.Equal(t, codes.NotFound, grpcstatus.Code(err), "%v", err)

	outcome, err := second.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: info})
	require.NoError(t, err)
	require.Equal(t, flight.CancelStatusUnspecified, outcome.Status, "the other one may run it")
	_, err = fetchInfo(t.Context(), second, info)
	require.Equal(t, codes.Canceled, grpcstatus.Code(err), "but this one will not: %v", err)
	got, err = fetchInfo(t.Context(), first, info)
	require.NoError(t, err)
	got.release()

	prepared, err := first.Prepare(t.Context(), "SELECT sum(v) FROM t WHERE v BETWEEN ? AND ?")
	require.NoError(t, err)
	elsewhere := flightsql.NewPreparedStatement(second, prepared.Handle())
	elsewhere.SetParameters(int64Row(t, 3, 5))
	info, err = elsewhere.Execute(t.Context())
	require.NoError(t, err)
	for _, client := range []*flightsql.Client{first, second} {
		got, err = fetchInfo(t.Context(), client, info)
		require.NoError(t, err)
		require.Equal(t, "12", one(t, d, got))
		got.release()
	}
	strange := flightsql.NewPreparedStatement(third, prepared.Handle())
	strange.SetParameters(int64Row(t, 3, 5))
	_, err = strange.Execute(t.Context())
	require.Equal(t, codes.NotFound, grpcstatus.Code(err), "%v", err)
	require.NoError(t, elsewhere.Close(t.Context()))
}

// TestTickets that are tampered with or old are refused.
func TestTickets(t *testing.T) {
	t.Parallel()
	_, addr := coordinate(t, numberedScanners(t, 1), server.Config{TicketLife: time.Second})
	client := connect(t, addr)
	info, err := client.Execute(t.Context(), "SELECT v FROM t")
	require.NoError(t, err)
	endpoint := info.Endpoint[0]
	const envelope = 80 // bytes that name the kind of ticket
	for at := envelope; at < len(endpoint.Ticket.Ticket); at += 7 {
		bad := slices.Clone(endpoint.Ticket.Ticket)
		bad[at] ^= 1
		_, err := fetchInfo(t.Context(), client, &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: bad}}}})
		require.Error(t, err, "byte %d", at)
		require.Equal(t, codes.NotFound, grpcstatus.Code(err), "byte %d: %v", at, err)
	}
	renewed, err := client.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{Endpoint: endpoint})
	require.NoError(t, err)
	require.False(t, renewed.GetExpirationTime().AsTime().Before(endpoint.GetExpirationTime().AsTime()))
	within(t, 10*time.Second, "the ticket expires", func() bool {
		got, err := fetchInfo(t.Context(), client, info)
		if err == nil {
			got.release()
			return false
		}
		require.Equal(t, codes.NotFound, grpcstatus.Code(err), "%v", err)
		require.ErrorContains(t, err, "expired")
		return true
	})
	_, err = client.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{Endpoint: endpoint})
	require.Equal(t, codes.NotFound, grpcstatus.Code(err), "%v", err)
}
