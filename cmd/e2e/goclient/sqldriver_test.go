//go:build clients

package goclient

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/driver"
	"github.com/stretchr/testify/require"
)

// database opens the database/sql driver; it sends user and password with
// every request, without a handshake.
func database(t testing.TB) *sql.DB {
	t.Helper()
	addr, creds := target(t)
	cfg := driver.DriverConfig{
		Address: addr, Timeout: 20 * time.Second,
		Username: os.Getenv("FLIGHT_USER"), Password: os.Getenv("FLIGHT_PASSWORD"), Token: os.Getenv("FLIGHT_TOKEN"),
	}
	if creds.Info().SecurityProtocol == "tls" {
		cfg.TLSEnabled, cfg.TLSConfig, cfg.TLSConfigName = true, tlsConfig(t), "clients"
	}
	db, err := sql.Open("flightsql", cfg.DSN())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestDatabaseSQL(t *testing.T) {
	db := database(t)
	require.NoError(t, db.Ping())
	var n int64
	require.NoError(t, db.QueryRow("SELECT count(*) AS n FROM events").Scan(&n))
	require.EqualValues(t, 1_000_000, n)

	rows, err := db.Query("SELECT id, name, x, d FROM events WHERE id < ? ORDER BY id", int64(3))
	require.NoError(t, err)
	defer rows.Close()
	for id := range int64(3) {
		var got int64
		var name string
		var x float64
		var d time.Time
		require.True(t, rows.Next())
		require.NoError(t, rows.Scan(&got, &name, &x, &d))
		require.Equal(t, id, got)
		require.Equal(t, float64(id)*1.5, x)
		require.Equal(t, "2026-01-0"+string(rune('1'+id)), d.Format(time.DateOnly))
	}
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
}

// TestDatabaseSQLParameters binds by the type that the server infers. A
// parameter without a context, as in SELECT ?, is text; a number there needs a
// cast, because this driver converts nothing. It cannot bind dates and times.
func TestDatabaseSQLParameters(t *testing.T) {
	db := database(t)
	for cast, value := range map[string]any{"BIGINT": int64(5), "DOUBLE": 2.5, "VARCHAR": "text", "BOOLEAN": true} {
		var got any
		require.NoError(t, db.QueryRow("SELECT CAST(? AS "+cast+") AS v", value).Scan(&got), cast)
		require.Equal(t, value, got, cast)
	}
	var text string
	require.NoError(t, db.QueryRow("SELECT ? AS v", "text").Scan(&text))
	require.Equal(t, "text", text)
}

func TestDatabaseSQLCancelFreesEveryScanner(t *testing.T) {
	db := database(t)
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := db.QueryContext(ctx, endless)
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next())
	scanning(t)
	cancel()
	freed(t)
	for rows.Next() {
	}
	require.ErrorIs(t, rows.Err(), context.Canceled)
}
