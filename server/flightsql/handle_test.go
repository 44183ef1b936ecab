package flightsql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

func TestHandleRoundTrip(t *testing.T) {
	t.Parallel()
	k, err := newHandleKey(nil)
	require.NoError(t, err)
	want := handle{Version: handleVersion, SQL: "SELECT 'é'", Settings: query.DefaultSettings(), ID: newID()}
	raw, err := k.encode(want)
	require.NoError(t, err)
	got, err := k.decode(raw)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestHandleRefusesForgeries(t *testing.T) {
	t.Parallel()
	k, err := newHandleKey([]byte("0123456789abcdef"))
	require.NoError(t, err)
	other, err := newHandleKey(nil)
	require.NoError(t, err)
	raw, err := k.encode(handle{Version: handleVersion, SQL: "SELECT 1"})
	require.NoError(t, err)
	foreign, err := other.encode(handle{Version: handleVersion, SQL: "SELECT 1"})
	require.NoError(t, err)
	future, err := k.encode(handle{Version: handleVersion + 1})
	require.NoError(t, err)
	flipped := append([]byte(nil), raw...)
	flipped[len(flipped)-2] ^= 1
	for name, bad := range map[string][]byte{"nil": nil, "short": raw[:20], "cut": raw[:len(raw)-1], "flipped": flipped, "foreign": foreign, "future": future} {
		_, err := k.decode(bad)
		require.Error(t, err, name)
		require.Contains(t, []status.Code{status.NotFound, status.InvalidArgument}, status.CodeOf(err), name)
	}
	_, err = newHandleKey([]byte("short"))
	require.ErrorContains(t, err, "16")
}

func TestLikeMatcher(t *testing.T) {
	t.Parallel()
	all := likeMatcher(nil)
	require.True(t, all("x"))
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"ev%", "events", true}, {"ev%", "dev", false}, {"e_ents", "events", true}, {"e_ents", "eents", false},
		{`e\_x`, "e_x", true}, {`e\_x`, "eax", false}, {"it's", "it's", true}, {"a.c", "abc", false}, {"%", "", true}, {"", "x", false},
	} {
		require.Equal(t, c.want, likeMatcher(&c.pattern)(c.name), "%q %q", c.pattern, c.name)
	}
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
