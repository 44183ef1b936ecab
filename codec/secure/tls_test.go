package secure_test

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/codec/secure/securetest"
)

// serve serves health checks until the test ends.
func serve(t *testing.T, opts ...grpc.ServerOption) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := grpc.NewServer(append(opts, secure.Limits()...)...)
	healthpb.RegisterHealthServer(g, health.NewServer())
	go func() { _ = g.Serve(lis) }()
	t.Cleanup(g.Stop)
	return lis.Addr().String()
}

func serveTLS(t *testing.T, files secure.Files) string {
	t.Helper()
	creds, err := secure.ServerTLS(files)
	require.NoError(t, err)
	return serve(t, grpc.Creds(creds))
}

// call makes one call over a connection of its own.
func call(t *testing.T, addr string, opts ...grpc.DialOption) error {
	t.Helper()
	conn, err := grpc.NewClient(addr, opts...)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	return err
}

func clientTLS(t *testing.T, files secure.Files) grpc.DialOption {
	t.Helper()
	creds, err := secure.ClientTLS(files)
	require.NoError(t, err)
	return grpc.WithTransportCredentials(creds)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ca, stranger := securetest.NewCA(t), securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	addr := serveTLS(t, secure.Files{Cert: cert, Key: key})
	require.NoError(t, call(t, addr, clientTLS(t, secure.Files{CA: ca.File})))
	require.NoError(t, call(t, addr, clientTLS(t, secure.Files{SkipVerify: true})))
	require.NoError(t, call(t, addr, clientTLS(t, secure.Files{CA: ca.File, ServerName: "server"})))
	require.ErrorContains(t, call(t, addr, clientTLS(t, secure.Files{CA: stranger.File})), "certificate")
	require.ErrorContains(t, call(t, addr, clientTLS(t, secure.Files{CA: ca.File, ServerName: "other"})), "certificate")
	require.Error(t, call(t, addr, grpc.WithTransportCredentials(insecure.NewCredentials())), "plain text")
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	ca, stranger := securetest.NewCA(t), securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	addr := serveTLS(t, secure.Files{Cert: cert, Key: key, CA: ca.File})
	own, ownKey := ca.Issue(t, "client")
	forged, forgedKey := stranger.Issue(t, "client")
	require.NoError(t, call(t, addr, clientTLS(t, secure.Files{CA: ca.File, Cert: own, Key: ownKey})))
	require.Error(t, call(t, addr, clientTLS(t, secure.Files{CA: ca.File})), "no certificate")
	require.Error(t, call(t, addr, clientTLS(t, secure.Files{CA: ca.File, Cert: forged, Key: forgedKey})), "another authority's")
}

func TestTLSIsNeverOlderThan12(t *testing.T) {
	t.Parallel()
	ca := securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	addr := serveTLS(t, secure.Files{Cert: cert, Key: key})
	for version, ok := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: version, NextProtos: []string{"h2"}})
		if !ok {
			require.ErrorContains(t, err, "protocol version", tls.VersionName(version))
			continue
		}
		require.NoError(t, err, tls.VersionName(version))
		require.NoError(t, conn.Close())
	}
	old, err := tls.Listen("tcp", "127.0.0.1:0", oldServer(t, cert, key))
	require.NoError(t, err)
	defer func() { _ = old.Close() }()
	go func() {
		for {
			conn, err := old.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	require.ErrorContains(t, call(t, old.Addr().String(), clientTLS(t, secure.Files{CA: ca.File})), "protocol version", "a server that offers only TLS 1.1")
}

func oldServer(t *testing.T, cert, key string) *tls.Config {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11, NextProtos: []string{"h2"}}
}

func TestTLSFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	ca := securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	warned := make(chan error, 10)
	addr := serveTLS(t, secure.Files{Cert: cert, Key: key, Warn: func(err error) { warned <- err }})
	first := serialOf(t, addr)
	require.Equal(t, first, serialOf(t, addr))
	ca.Issue(t, "server")
	require.Eventually(t, func() bool { return serialOf(t, addr) != first }, 10*time.Second, 100*time.Millisecond)
	second := serialOf(t, addr)
	require.NoError(t, os.WriteFile(cert, []byte("half a certif"), 0o600))
	require.Eventually(t, func() bool { _ = serialOf(t, addr); return len(warned) > 0 }, 10*time.Second, 100*time.Millisecond)
	require.Equal(t, second, serialOf(t, addr), "the last good one stays")
}

func serialOf(t *testing.T, addr string) string {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func TestTLSNeedsItsFiles(t *testing.T) {
	t.Parallel()
	ca := securetest.NewCA(t)
	cert, key := ca.Issue(t, "server")
	for name, make := range map[string]func() (credentials.TransportCredentials, error){
		"no key":         func() (credentials.TransportCredentials, error) { return secure.ServerTLS(secure.Files{Cert: cert}) },
		"client, no key": func() (credentials.TransportCredentials, error) { return secure.ClientTLS(secure.Files{Cert: cert}) },
		"missing file": func() (credentials.TransportCredentials, error) {
			return secure.ServerTLS(secure.Files{Cert: "nope", Key: key})
		},
		"CA without PEM": func() (credentials.TransportCredentials, error) { return secure.ClientTLS(secure.Files{CA: key}) },
		"missing CA":     func() (credentials.TransportCredentials, error) { return secure.ClientTLS(secure.Files{CA: "nope"}) },
		"key of another": func() (credentials.TransportCredentials, error) {
			_, other := ca.Issue(t, "other")
			return secure.ServerTLS(secure.Files{Cert: cert, Key: other})
		},
	} {
		_, err := make()
		require.Error(t, err, name)
	}
}
