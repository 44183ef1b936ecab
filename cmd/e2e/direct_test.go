package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
)

// direct is a federation of t(v, k) over three scanners that know a secret; the
// second advertises nothing, and clients reach the others.
type direct struct {
	sources []*memsource.Source
	addrs   []string
	secret  *secure.Secret
	reads   *lockedBuffer // the scanners' log
}

func startDirect(t *testing.T) *direct {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("a secret between all nodes"), 0o600))
	secret, err := secure.NewSecret(path, nil)
	require.NoError(t, err)
	d := &direct{secret: secret, reads: &lockedBuffer{}}
	for i := range 3 {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		src := numberedSource(t, i, 3)
		cfg := scanner.Config{Name: fmt.Sprintf("s%d", i), Tables: []scanner.Table{{Name: "t", Source: src}}, Logger: zerolog.New(d.reads), Tickets: secret}
		if i != 1 {
			cfg.Advertise = "grpc://" + lis.Addr().String()
		}
		s, err := scanner.New(cfg)
		require.NoError(t, err)
		serveScanner(t, s, lis)
		d.sources, d.addrs = append(d.sources, src), append(d.addrs, lis.Addr().String())
	}
	return d
}

// locations are where the endpoints of a statement can be read.
func locations(info *flight.FlightInfo) (all []string) {
	for _, e := range info.Endpoint {
		at := "coordinator"
		if len(e.Location) > 0 {
			at = strings.TrimPrefix(e.Location[0].Uri, "grpc://")
		}
		all = append(all, at)
	}
	return all
}

// TestDirectResults: what scanners serve themselves is what the coordinator
// would have, which serves the same tickets.
func TestDirectResults(t *testing.T) {
	t.Parallel()
	duck := newDuck(t)
	d := startDirect(t)
	_, addr := coordinate(t, d.addrs, server.Config{Secret: d.secret})
	whole, parted := connect(t, addr), connect(t, addr)
	setting(t, parted, "partitioned_results", "on")
	both, none := []string{d.addrs[0], "coordinator", d.addrs[2]}, []string{"coordinator", "coordinator", "coordinator"}
	for sql, want := range map[string][]string{
		"SELECT * FROM t": both, "SELECT k, v, k FROM t WHERE v % 2 = 0 AND k > 3": both, "SELECT v AS a FROM t WHERE v < 9000": {d.addrs[0], "coordinator", "coordinator"},
		"SELECT v * 2 FROM t": none, "SELECT v, count(*) FROM t GROUP BY v": none,
	} {
		expected, err := fetch(t.Context(), whole, sql)
		require.NoError(t, err, sql)
		info, err := parted.Execute(t.Context(), sql)
		require.NoError(t, err, sql)
		require.Equal(t, want, locations(info), sql)
		for _, atScanner := range []bool{true, false} {
			got := &result{schema: expected.schema}
			for i, e := range info.Endpoint {
				from := parted
				if at := locations(info)[i]; atScanner && at != "coordinator" {
					from = connect(t, at)
				}
				part, err := fetchInfo(t.Context(), from, &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{e}})
				require.NoError(t, err, sql)
				require.True(t, expected.schema.Equal(part.schema), "%s\n%s\n%s", sql, expected.schema, part.schema)
				got.batches = append(got.batches, part.batches...)
			}
			require.Equal(t, sortedText(t, duck, expected), sortedText(t, duck, got), sql)
			got.release()
		}
		expected.release()
	}
	require.Contains(t, d.reads.String(), `"message":"direct read"`)
}

// TestDirectTickets: they are renewed, cancelled as far as that goes, and refused
// by scanners whose table has changed and by coordinators for other users.
func TestDirectTickets(t *testing.T) {
	t.Parallel()
	d := startDirect(t)
	_, addr := coordinate(t, d.addrs, server.Config{Secret: d.secret})
	client := connect(t, addr)
	setting(t, client, "partitioned_results", "on")
	info, err := client.Execute(t.Context(), "SELECT v FROM t")
	require.NoError(t, err)
	first := info.Endpoint[0]
	renewed, err := client.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{Endpoint: first})
	require.NoError(t, err)
	require.Equal(t, first.Location[0].Uri, renewed.Location[0].Uri)
	require.Equal(t, flight.LocationReuseConnection, renewed.Location[1].Uri)
	at := connect(t, d.addrs[0])
	for _, e := range []*flight.FlightEndpoint{first, renewed} {
		got, err := fetchInfo(t.Context(), at, &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{e}})
		require.NoError(t, err)
		require.EqualValues(t, 5000, got.rows())
		got.release()
	}
	_, err = fetchInfo(t.Context(), connect(t, d.addrs[2]), &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{first}})
	require.ErrorContains(t, err, `the ticket is for scanner "s0"`)
	outcome, err := client.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: info})
	require.NoError(t, err)
	require.Equal(t, flight.CancelStatusNotCancellable, outcome.Status, "scanners are not told")
	_, err = fetchInfo(t.Context(), client, &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{first}})
	require.Equal(t, codes.Canceled, grpcstatus.Code(err), "the coordinator is: %v", err)
	require.NoError(t, d.sources[0].Put(memsource.Partition{ID: "0"}))
	_, err = fetchInfo(t.Context(), at, &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{first}})
	require.Equal(t, codes.Aborted, grpcstatus.Code(err), "%v", err)
}

// TestDirectReadsKeepToTheRules: the rows that a user may read, and no other.
func TestDirectReadsKeepToTheRules(t *testing.T) {
	t.Parallel()
	d := startDirect(t)
	_, policy := policyFile(t, `{users: {ann: [narrow], bob: [none]}, roles: {narrow: [{tables: [t], rows: "k = 3", columns: [v]}], none: []}}`)
	client, _, ann, bob := signedInOver(t, d.addrs, server.Config{Logger: zerolog.Nop(), Access: policy, Secret: d.secret})
	header := func(ctx context.Context) context.Context {
		return withHeader(ctx, "x-tributary-partitioned-results", "on")
	}
	_, err := client.Execute(header(bob), "SELECT v FROM t")
	require.ErrorContains(t, err, "does not exist")
	info, err := client.Execute(header(ann), "SELECT * FROM t")
	require.NoError(t, err)
	require.Equal(t, []string{d.addrs[0], "coordinator", d.addrs[2]}, locations(info))
	require.NotContains(t, string(info.Endpoint[0].Ticket.Ticket), "main.t", "a ticket is sealed")
	rows := int64(0)
	for i, at := range []*flightsql.Client{connect(t, d.addrs[0]), client, connect(t, d.addrs[2])} {
		got, err := fetchInfo(ann, at, &flight.FlightInfo{Endpoint: info.Endpoint[i : i+1]})
		require.NoError(t, err)
		require.Equal(t, 1, got.schema.NumFields())
		rows += got.rows()
		got.release()
	}
	require.EqualValues(t, 2143, rows)
	_, err = fetchInfo(bob, client, &flight.FlightInfo{Endpoint: info.Endpoint[:1]})
	require.Equal(t, codes.NotFound, grpcstatus.Code(err), "another user at the coordinator: %v", err)
}
