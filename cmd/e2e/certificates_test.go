package e2e

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/codec/secure/securetest"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/auth"
)

// TestUserOfACertificate: the common name is the user, whose rules hold.
func TestUserOfACertificate(t *testing.T) {
	t.Parallel()
	ca, strangers := securetest.NewCA(t), securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	creds, err := secure.ServerTLS(secure.Files{Cert: cert, Key: key, CA: ca.File})
	require.NoError(t, err)
	authenticator, err := auth.New(auth.Config{Certificates: true})
	require.NoError(t, err)
	_, policy := policyFile(t, `{users: {ann: [narrow], bob: [all]}, roles: {narrow: [{tables: [t], rows: "k = 3"}], all: [{tables: ["*"]}]}}`)
	c, _ := coordinate(t, numberedScanners(t, 2), server.Config{Auth: authenticator, Access: policy})
	addr := serve(t, c, grpc.Creds(creds))
	by := func(authority *securetest.CA, user string) *flightsql.Client {
		cert, key := authority.Issue(t, user)
		creds, err := secure.ClientTLS(secure.Files{CA: ca.File, Cert: cert, Key: key})
		require.NoError(t, err)
		client, err := flightsql.NewClient(addr, nil, nil, grpc.WithTransportCredentials(creds))
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	d := newDuck(t)
	for user, want := range map[string]string{"ann": "2143", "bob": "15000"} {
		got, err := fetch(t.Context(), by(ca, user), "SELECT count(*) FROM t")
		require.NoError(t, err, user)
		require.Equal(t, want, one(t, d, got), user)
		got.release()
	}
	info, err := by(ca, "bob").Execute(t.Context(), "SELECT v FROM t")
	require.NoError(t, err)
	_, err = fetchInfo(t.Context(), by(ca, "ann"), info)
	require.Equal(t, codes.NotFound, grpcstatus.Code(err), "the ticket of another: %v", err)
	_, err = by(ca, "carol").Execute(t.Context(), "SELECT v FROM t")
	require.ErrorContains(t, err, "does not exist", "a user without rules")
	_, err = by(ca, auth.Anonymous).Execute(t.Context(), "SELECT v FROM t")
	require.Equal(t, codes.Unauthenticated, grpcstatus.Code(err), "%v", err)
	_, err = by(strangers, "ann").Execute(t.Context(), "SELECT v FROM t")
	require.Equal(t, codes.Unavailable, grpcstatus.Code(err), "another authority's: %v", err)
}

// checkHealth asks a node without credentials.
func checkHealth(t *testing.T, addr string) healthpb.HealthCheckResponse_ServingStatus {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	r, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	require.NoError(t, err)
	return r.GetStatus()
}

// TestHealth: a coordinator is ready when its scanners are; nobody has to sign in
// to ask.
func TestHealth(t *testing.T) {
	t.Parallel()
	scanners := numberedScanners(t, 2)
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, checkHealth(t, scanners[0]))
	_, addr, _, _ := signedInOver(t, scanners, server.Config{Logger: zerolog.Nop()})
	require.Equal(t, healthpb.HealthCheckResponse_SERVING, checkHealth(t, addr))
	c, err := server.New(context.Background(), server.Config{Scanners: []string{scanners[0], "127.0.0.1:1"}, Logger: zerolog.Nop()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.Equal(t, healthpb.HealthCheckResponse_NOT_SERVING, checkHealth(t, serve(t, c)))
}
