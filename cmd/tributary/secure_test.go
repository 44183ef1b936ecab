package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec/secure/securetest"
	"github.com/tributary-db/tributary/server/auth"
)

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// logged is the field of the first log line that has it, "" without one.
func (s *syncBuffer) logged(field string) string {
	for line := range strings.Lines(s.String()) {
		fields := map[string]any{}
		if json.Unmarshal([]byte(line), &fields) == nil {
			if text, ok := fields[field].(string); ok {
				return text
			}
		}
	}
	return ""
}

// start runs a server command until the test ends; it returns its log and the
// address that clients use.
func start(t *testing.T, args ...string) (uri string, log *syncBuffer) {
	t.Helper()
	if !slices.Contains(args, "--http") {
		args = append(args, "--http", "")
	}
	ctx, cancel := context.WithCancel(context.Background())
	log = &syncBuffer{}
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, append(args, "--listen", "127.0.0.1:0"), &console{stdin: strings.NewReader(""), stdout: io.Discard, stderr: log})
	}()
	t.Cleanup(func() {
		cancel()
		require.Equal(t, exitOK, <-ended, log)
	})
	require.Eventually(t, func() bool { return log.logged("uri") != "" }, 20*time.Second, 10*time.Millisecond, "%v: %s", args, log)
	return log.logged("uri"), log
}

// tributary runs a client command and returns its exit code and all it wrote.
func tributary(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out syncBuffer
	return run(ctx, args, &console{stdin: strings.NewReader(""), stdout: &out, stderr: &out}), out.String()
}

// answers waits until the coordinator has met its scanners and answers.
func answers(t *testing.T, uri string, args ...string) {
	t.Helper()
	last := ""
	require.Eventually(t, func() bool {
		code, out := tributary(t, append([]string{"query", "--server", uri, "--format", "csv", "SELECT sum(v) AS s FROM t"}, args...)...)
		last = out
		return code == exitOK && strings.TrimSpace(out) == "s\n6"
	}, 20*time.Second, 100*time.Millisecond, "%v: %s", args, &last)
}

func refuses(t *testing.T, uri, want string, args ...string) {
	t.Helper()
	code, out := tributary(t, append([]string{"query", "--server", uri, "SELECT sum(v) AS s FROM t"}, args...)...)
	require.Equal(t, exitError, code, out)
	require.Contains(t, out, want)
}

func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// numbers is a --table option of a file with v = 1, 2, 3.
func numbers(t *testing.T) string {
	t.Helper()
	return "t=" + fileOf(t, "t.csv", "v\n1\n2\n3\n")
}

func TestTLSFromClientToScanner(t *testing.T) {
	t.Parallel()
	ca := securetest.NewCA(t)
	cert, key := ca.Issue(t, "node")
	secret := fileOf(t, "secret", "shared by the nodes")
	tls := []string{"--tls-cert", cert, "--tls-key", key, "--tls-client-ca", ca.File, "--secret-file", secret}
	scanner, _ := start(t, append([]string{"scanner", "--table", numbers(t)}, tls...)...)
	require.Contains(t, scanner, "grpc+tls://")
	link := []string{"--scanner", scanner, "--scanner-tls-ca", ca.File, "--scanner-tls-cert", cert, "--scanner-tls-key", key, "--refresh", "100ms"}

	uri, _ := start(t, append(append([]string{"coordinator", "--secret-file", secret}, link...), "--tls-cert", cert, "--tls-key", key)...)
	answers(t, uri, "--tls-ca", ca.File)
	refuses(t, uri, "certificate")
	refuses(t, strings.Replace(uri, "+tls", "", 1), "cannot reach")
	refuses(t, strings.Replace(uri, "+tls", "", 1), "grpc+tls://", "--tls-ca", ca.File)

	for name, args := range map[string][]string{
		"without the secret":    link,
		"with another secret":   append([]string{"--secret-file", fileOf(t, "secret", "shared by no other node")}, link...),
		"without a certificate": {"--scanner", scanner, "--scanner-tls-ca", ca.File, "--secret-file", secret},
		"without trusting it":   {"--scanner", scanner, "--secret-file", secret},
		"over plain text":       {"--scanner", strings.Replace(scanner, "+tls", "", 1), "--secret-file", secret},
	} {
		stranger, _ := start(t, append([]string{"coordinator"}, args...)...)
		require.Eventually(t, func() bool {
			code, out := tributary(t, "query", "--server", stranger, "SELECT sum(v) AS s FROM t")
			require.Equal(t, exitError, code, out)
			require.Contains(t, out, "not complete yet", name)
			return strings.Contains(out, "does not answer")
		}, 20*time.Second, 100*time.Millisecond, name)
	}
}

// TestUsersSignIn: passwords, tokens and rules through the commands.
func TestUsersSignIn(t *testing.T) {
	t.Parallel()
	scanner, _ := start(t, "scanner", "--table", numbers(t))
	var out syncBuffer
	require.Equal(t, exitOK, run(t.Context(), []string{"user", "ann"}, &console{stdin: strings.NewReader("a password\n"), stdout: &out, stderr: &out}))
	require.Equal(t, exitOK, run(t.Context(), []string{"user", "bob"}, &console{stdin: strings.NewReader("another\n"), stdout: &out, stderr: &out}))
	require.NotContains(t, out.String(), "password")
	users := fileOf(t, "users", out.String())
	rules := fileOf(t, "access.yaml", "users: {ann: [reader]}\nroles: {reader: [{tables: [t]}]}\n")
	uri, log := start(t, "coordinator", "--scanner", scanner, "--refresh", "100ms", "--users-file", users, "--access-file", rules)
	answers(t, uri, "--user", "ann", "--password", "a password")
	answers(t, uri, "--user", "ann", "--password-file", fileOf(t, "password", "a password\n"))
	refuses(t, uri, "wrong", "--user", "ann", "--password", "another")
	refuses(t, uri, "give a user and a password")
	refuses(t, uri, "not one of this server's", "--token", "nonsense")
	refuses(t, uri, "does not exist", "--user", "bob", "--password", "another")
	require.NotContains(t, log.String(), "a password")
}

// TestQueriesOverHTTP: who signs in sees his own, strangers nothing.
func TestQueriesOverHTTP(t *testing.T) {
	t.Parallel()
	scanner, _ := start(t, "scanner", "--table", numbers(t))
	users := fileOf(t, "users", "ann:"+auth.HashPassword("a")+"\nbob:"+auth.HashPassword("b")+"\n")
	uri, log := start(t, "coordinator", "--scanner", scanner, "--refresh", "100ms", "--users-file", users, "--http", "127.0.0.1:0")
	answers(t, uri, "--user", "ann", "--password-file", fileOf(t, "password", "a"))
	at := strings.Replace(log.logged("metrics"), "/metrics", "/queries", 1)
	for name, c := range map[string]struct {
		user, password string
		code           int
		shown          bool
	}{"a stranger": {"", "", 401, false}, "a wrong password": {"ann", "b", 401, false}, "ann": {"ann", "a", 200, true}, "bob": {"bob", "b", 200, false}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		require.NoError(t, err)
		if c.user != "" {
			r.SetBasicAuth(c.user, c.password)
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, errors.Join(err, answer.Body.Close()))
		require.Equal(t, c.code, answer.StatusCode, name)
		require.Equal(t, c.shown, strings.Contains(string(text), "sum(v)"), "%s: %s", name, text)
	}
}

func TestWarnsOfOpenAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addr                     string
		encrypted, authenticated bool
		want                     []string
	}{
		{"127.0.0.1:1", false, false, nil}, {"localhost:1", false, false, nil}, {"[::1]:1", false, false, nil},
		{"0.0.0.0:1", false, false, []string{"WITHOUT TLS", "WITHOUT AUTHENTICATION"}}, {":1", true, false, []string{"WITHOUT AUTHENTICATION"}},
		{"10.0.0.1:1", false, true, []string{"WITHOUT TLS"}}, {"db.example:1", true, true, nil},
	} {
		var log bytes.Buffer
		warnOpen(zerolog.New(&log), c.addr, c.encrypted, c.authenticated)
		require.Equal(t, len(c.want), strings.Count(log.String(), "\n"), c.addr)
		for _, want := range c.want {
			require.Contains(t, log.String(), want)
		}
	}
}
