package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/codec/secure/securetest"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/auth"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// signedIn serves t to ann and bob, and returns contexts of their calls.
func signedIn(t *testing.T, cfg server.Config) (client *flightsql.Client, addr string, ann, bob context.Context) {
	t.Helper()
	return signedInOver(t, numberedScanners(t, 2), cfg)
}

// withHeader adds a header to the calls of a context.
func withHeader(ctx context.Context, name, value string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, name, value)
}

// signedInOver is signedIn over scanners that run.
func signedInOver(t *testing.T, scanners []string, cfg server.Config) (client *flightsql.Client, addr string, ann, bob context.Context) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	require.NoError(t, os.WriteFile(path, []byte("ann:"+auth.HashPassword("a")+"\nbob:"+auth.HashPassword("b")+"\n"), 0o600))
	users, err := auth.NewUsers(path, nil)
	require.NoError(t, err)
	cfg.Auth, err = auth.New(auth.Config{Users: users})
	require.NoError(t, err)
	cfg.Scanners, cfg.Refresh, cfg.Alloc = scanners, time.Minute, memory.DefaultAllocator
	c, err := server.New(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Catalog().WaitReady(t.Context()))
	addr = serve(t, c)
	client = connect(t, addr)
	ann, err = client.Client.AuthenticateBasicToken(t.Context(), "ann", "a")
	require.NoError(t, err)
	bob = metadata.AppendToOutgoingContext(t.Context(), "authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("bob:b")))
	return client, addr, ann, bob
}

func TestCallsNeedAUser(t *testing.T) {
	t.Parallel()
	client, _, ann, bob := signedIn(t, server.Config{Logger: zerolog.Nop()})
	for _, ctx := range []context.Context{ann, bob} {
		got, err := fetch(ctx, client, "SELECT COUNT(*) FROM t")
		require.NoError(t, err)
		got.release()
	}
	refused := map[string]error{}
	_, refused["GetFlightInfo"] = client.Execute(t.Context(), "SELECT 1")
	_, refused["Prepare"] = client.Prepare(t.Context(), "SELECT 1")
	_, refused["GetTables"] = client.GetTables(t.Context(), &flightsql.GetTablesOpts{})
	_, refused["GetSqlInfo"] = client.GetSqlInfo(t.Context(), nil)
	_, refused["session"] = client.GetSessionOptions(t.Context(), &flight.GetSessionOptionsRequest{})
	_, refused["Handshake"] = client.Client.AuthenticateBasicToken(t.Context(), "ann", "b")
	actions, err := client.Client.ListActions(t.Context(), &flight.Empty{})
	require.NoError(t, err)
	_, refused["ListActions"] = actions.Recv()
	put, err := client.Client.DoPut(t.Context())
	require.NoError(t, err)
	_ = put.Send(&flight.FlightData{}) // makes the Flight library panic
	_, refused["DoPut"] = put.Recv()
	exchange, err := client.Client.DoExchange(t.Context())
	require.NoError(t, err)
	_, refused["DoExchange"] = exchange.Recv()
	for what, err := range refused {
		require.Equal(t, codes.Unauthenticated, grpcstatus.Code(err), "%s: %v", what, err)
	}
	put, err = client.Client.DoPut(ann)
	require.NoError(t, err)
	_ = put.Send(&flight.FlightData{})
	_, err = put.Recv()
	require.Error(t, err)
	got, err := fetch(ann, client, "SELECT COUNT(*) FROM t")
	require.NoError(t, err, "the server goes on")
	got.release()
}

func TestTicketsAndHandlesAreTheirUsers(t *testing.T) {
	t.Parallel()
	client, _, ann, bob := signedIn(t, server.Config{Logger: zerolog.Nop()})
	info, err := client.Execute(ann, "SELECT 'a secret of ann' AS s FROM t LIMIT 1")
	require.NoError(t, err)
	ticket := info.Endpoint[0].Ticket
	require.NotContains(t, string(ticket.Ticket), "secret")
	_, err = client.DoGet(bob, ticket)
	require.Equal(t, codes.NotFound, grpcstatus.Code(err), "%v", err)
	require.NotContains(t, err.Error(), "secret")
	_, err = client.CancelFlightInfo(bob, &flight.CancelFlightInfoRequest{Info: info})
	require.Error(t, err, "another user cancels it")
	prepared, err := client.Prepare(ann, "SELECT 1")
	require.NoError(t, err)
	require.Error(t, prepared.Close(bob), "another user closes it")
	_, err = prepared.Execute(bob)
	require.Error(t, err, "another user runs it")
	got, err := fetchInfo(ann, client, info)
	require.NoError(t, err)
	require.EqualValues(t, 1, got.rows())
	got.release()
}

func TestOversizedMetadataIsRefused(t *testing.T) {
	t.Parallel()
	client, _, ann, _ := signedIn(t, server.Config{Logger: zerolog.Nop()})
	_, err := client.Execute(metadata.AppendToOutgoingContext(ann, "junk", strings.Repeat("x", 100<<10)), "SELECT 1")
	require.ErrorContains(t, err, "header list size")
	_, err = client.Execute(metadata.AppendToOutgoingContext(ann, "junk", strings.Repeat("x", 32<<10)), "SELECT 1")
	require.NoError(t, err)
}

// TestSlowHandshakesEnd: a connection that never speaks HTTP/2 is closed.
func TestSlowHandshakesEnd(t *testing.T) {
	t.Parallel()
	_, addr, _, _ := signedIn(t, server.Config{Logger: zerolog.Nop()})
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = conn.Write([]byte("PRI * HTTP/2"))
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	buf := make([]byte, 1<<10)
	for err == nil {
		_, err = conn.Read(buf)
	}
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is still open")
}

// TestManySilentConnections: those that say nothing, or stop in the middle of a
// handshake, keep nobody else out, and are closed.
func TestManySilentConnections(t *testing.T) {
	t.Parallel()
	ca := securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	creds, err := secure.ServerTLS(secure.Files{Cert: cert, Key: key})
	require.NoError(t, err)
	c, _ := coordinate(t, numberedScanners(t, 1), server.Config{})
	addr := serve(t, c, grpc.Creds(creds))
	var silent []net.Conn
	for i := range 300 {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		silent = append(silent, conn)
		if i%2 == 0 { // the begin of a TLS handshake
			_, err = conn.Write([]byte{22, 3, 1, 2, 0, 1})
			require.NoError(t, err)
		}
	}
	trusting, err := secure.ClientTLS(secure.Files{CA: ca.File})
	require.NoError(t, err)
	client, err := flightsql.NewClient(addr, nil, nil, grpc.WithTransportCredentials(trusting))
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	begun := time.Now()
	got, err := fetch(t.Context(), client, "SELECT COUNT(*) FROM t")
	require.NoError(t, err)
	got.release()
	require.Less(t, time.Since(begun), 8*time.Second, "before the silent ones are closed")
	for _, conn := range silent {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(30*time.Second)))
		_, err := io.Copy(io.Discard, conn)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is still open")
	}
}

func TestStatementsAreAudited(t *testing.T) {
	t.Parallel()
	log := &lockedBuffer{}
	client, _, ann, bob := signedIn(t, server.Config{Logger: zerolog.New(log)})
	prepared, err := client.Prepare(ann, "SELECT v FROM t WHERE v = ? AND CAST(? AS VARCHAR) <> ''")
	require.NoError(t, err)
	row := int64Row(t, 4711, 123456789)
	prepared.SetParameters(row)
	info, err := prepared.Execute(ann)
	require.NoError(t, err)
	got, err := fetchInfo(ann, client, info)
	require.NoError(t, err)
	got.release()
	_, err = client.Execute(bob, "SELECT nothing FROM t")
	require.Error(t, err)
	within(t, 5*time.Second, "two lines", func() bool {
		return strings.Contains(log.String(), "query ended") && strings.Contains(log.String(), "statement refused")
	})
	for line := range strings.Lines(log.String()) {
		switch {
		case strings.Contains(line, "query ended"):
			for _, want := range []string{`"user":"ann"`, `"peer":"127.0.0.1:`, `"query_id":"q_`, `"outcome":"ok"`, `"rows":1`, `"elapsed":`} {
				require.Contains(t, line, want)
			}
		case strings.Contains(line, "statement refused"):
			require.Contains(t, line, `"user":"bob"`)
		}
	}
	require.NotContains(t, log.String(), "123456789", "a bound value is logged")
}
