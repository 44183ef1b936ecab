//go:build clients

package goclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// target is the address of the server and how to secure the way there.
func target(t testing.TB) (string, credentials.TransportCredentials) {
	t.Helper()
	scheme, addr, ok := strings.Cut(os.Getenv("FLIGHT_URI"), "://")
	require.True(t, ok, "FLIGHT_URI says where the server is")
	if scheme != "grpc+tls" {
		return addr, insecure.NewCredentials()
	}
	return addr, credentials.NewTLS(tlsConfig(t))
}

func tlsConfig(t testing.TB) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(os.Getenv("FLIGHT_TLS_ROOTS"))
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(pem))
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func secured() bool { return os.Getenv("FLIGHT_USER") != "" || os.Getenv("FLIGHT_TOKEN") != "" }

// dial opens a connection without credentials; arrow-go's default limits hold.
func dial(t testing.TB) *flightsql.Client {
	t.Helper()
	addr, creds := target(t)
	cookies := []flight.ClientMiddleware{flight.NewClientCookieMiddleware()}
	client, err := flightsql.NewClient(addr, nil, cookies, grpc.WithTransportCredentials(creds))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// connect opens a connection; the context carries the credentials and ends
// with the test.
func connect(t testing.TB) (context.Context, *flightsql.Client) {
	t.Helper()
	client := dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	switch {
	case os.Getenv("FLIGHT_USER") != "":
		authenticated, err := client.Client.AuthenticateBasicToken(ctx, os.Getenv("FLIGHT_USER"), os.Getenv("FLIGHT_PASSWORD"))
		require.NoError(t, err)
		return authenticated, client
	case os.Getenv("FLIGHT_TOKEN") != "":
		return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Getenv("FLIGHT_TOKEN")), client
	}
	return ctx, client
}

var openScans = regexp.MustCompile(`(?m)^tributary_scanner_open_scans(?:\{[^}]*\})? (\S+)$`)

// scans returns how many scans each scanner runs.
func scans(t testing.TB) []float64 {
	t.Helper()
	urls := strings.Fields(os.Getenv("SCANNER_METRICS"))
	require.Len(t, urls, 2)
	running := make([]float64, len(urls))
	for i, url := range urls {
		body := get(t, url)
		for _, m := range openScans.FindAllStringSubmatch(body, -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			running[i] += n
		}
	}
	return running
}

func get(t testing.TB, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return string(body)
}

// scanning waits until every scanner works for a query.
func scanning(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool { s := scans(t); return s[0] > 0 && s[1] > 0 }, 10*time.Second, 10*time.Millisecond)
}

// freed waits until no scanner works any more.
func freed(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool { s := scans(t); return s[0] == 0 && s[1] == 0 }, 2*time.Second, 10*time.Millisecond)
}
