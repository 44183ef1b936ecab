package flightsql

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/query"
)

func testHandles(t *testing.T, secret string) *handles {
	t.Helper()
	key, err := auth.SecretOr([]byte(secret))
	require.NoError(t, err)
	k, err := newHandles(key, time.Minute, time.Hour)
	require.NoError(t, err)
	return k
}

func TestHandleRoundTrip(t *testing.T) {
	t.Parallel()
	want := handle{SQL: "SELECT 'é'", Settings: query.DefaultSettings(), ID: newID(), Rows: [][]string{{"1"}}}
	raw, err := testHandles(t, "0123456789abcdef").ticket(t.Context(), &want)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "SELECT", "nobody reads a statement in it")
	got, err := testHandles(t, "0123456789abcdef").decode(t.Context(), raw)
	require.NoError(t, err, "another server with the same secret reads it")
	require.Equal(t, want, got)
}

func TestHandleExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := testHandles(t, "")
		ticket, err := k.ticket(t.Context(), &handle{ID: "t"})
		require.NoError(t, err)
		prepared, err := k.prepared(t.Context(), &handle{ID: "p"})
		require.NoError(t, err)
		time.Sleep(59 * time.Second)
		_, err = k.decode(t.Context(), ticket)
		require.NoError(t, err)
		time.Sleep(time.Second)
		_, err = k.decode(t.Context(), ticket)
		require.Equal(t, status.NotFound, status.CodeOf(err))
		require.ErrorContains(t, err, "expired (at 2000-01-01T00:01:00Z)")
		_, err = k.decode(t.Context(), prepared)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		_, err = k.decode(t.Context(), prepared)
		require.ErrorContains(t, err, "expired")
		h, err := k.decodeAny(t.Context(), prepared)
		require.NoError(t, err, "it can still be closed")
		require.Equal(t, "p", h.ID)
	})
}

func TestHandleRefusesForgeries(t *testing.T) {
	t.Parallel()
	k, other := testHandles(t, "0123456789abcdef"), testHandles(t, "")
	raw, err := k.ticket(t.Context(), &handle{SQL: "SELECT 1"})
	require.NoError(t, err)
	foreign, err := other.ticket(t.Context(), &handle{SQL: "SELECT 1"})
	require.NoError(t, err)
	anns, err := k.ticket(auth.WithUser(t.Context(), auth.User{Name: "ann"}), &handle{SQL: "SELECT 1"})
	require.NoError(t, err)
	future, err := k.Seal(auth.Anonymous, handle{Version: handleVersion + 1})
	require.NoError(t, err)
	unlike, err := k.Seal(auth.Anonymous, "text")
	require.NoError(t, err)
	purpose, err := auth.NewSealer([]byte("0123456789abcdef"), "something else")
	require.NoError(t, err)
	other2, err := purpose.Seal(auth.Anonymous, handle{Version: handleVersion})
	require.NoError(t, err)
	bad := map[string][]byte{
		"nil": nil, "another user's": anns, "short": raw[:20], "cut": raw[:len(raw)-1], "foreign": foreign, "future": future, "not a handle": unlike, "of another purpose": other2,
	}
	for i := range raw {
		bad[fmt.Sprintf("bit in byte %d", i)] = flipped(raw, i)
	}
	for name, text := range bad {
		_, err := k.decode(t.Context(), text)
		require.Error(t, err, name)
		require.Contains(t, []status.Code{status.NotFound, status.InvalidArgument}, status.CodeOf(err), name)
	}
	_, err = auth.SecretOr([]byte("short"))
	require.ErrorContains(t, err, "at least 16")
}

func flipped(raw []byte, at int) []byte {
	out := slices.Clone(raw)
	out[at] ^= 1
	return out
}

func TestRenewFlightEndpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Alloc: memory.DefaultAllocator, TicketLife: time.Minute})
		require.NoError(t, err)
		first, err := s.endpoint(t.Context(), &handle{ID: "x", SQL: "SELECT 1"})
		require.NoError(t, err)
		require.Equal(t, time.Now().Add(time.Minute), first.GetExpirationTime().AsTime().Local())
		time.Sleep(50 * time.Second)
		second, err := s.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{Endpoint: first})
		require.NoError(t, err)
		time.Sleep(50 * time.Second)
		_, err = s.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{Endpoint: first})
		require.ErrorContains(t, err, "expired")
		raw, ok := statementHandle(second.GetTicket())
		require.True(t, ok)
		h, err := s.handles.decode(t.Context(), raw)
		require.NoError(t, err)
		require.Equal(t, "x", h.ID, "it is the same result")
		_, err = s.RenewFlightEndpoint(t.Context(), &flight.RenewFlightEndpointRequest{})
		require.Equal(t, status.InvalidArgument, status.CodeOf(err))
	})
}

func TestSQLInfoIsComplete(t *testing.T) {
	t.Parallel()
	info := sqlInfo("v1")
	for _, r := range [][2]uint32{{0, 11}, {100, 101}, {500, 576}} {
		for code := r[0]; code <= r[1]; code++ {
			require.Contains(t, info, code)
		}
	}
	require.IsType(t, int64(0), info[562], "JDBC casts it to Long")
	for code := range info {
		require.LessOrEqual(t, code, uint32(576), "JDBC breaks on codes that it does not know")
	}
}
