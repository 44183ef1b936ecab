//go:build clients

package goclient

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

const (
	// endless is more rows than a test reads: the scans of both scanners wait
	// for the reader.
	endless = "SELECT e.*, r.n FROM events e, range(100000) r(n) WHERE e.x + r.n >= 0"
	// silent works for long before its first row, with both scans open.
	silent = "SELECT count(*) FROM events e, range(100000) r(n) WHERE e.x + r.n < 0"
	// big has more than 32 MiB.
	big = "SELECT * FROM events"
)

// fetch reads every endpoint of a FlightInfo: the rows, and the text of the
// first value. Each stream must have the schema that was promised.
func fetch(ctx context.Context, client *flightsql.Client, info *flight.FlightInfo, err error) (rows int64, first string, _ error) {
	if err != nil {
		return 0, "", err
	}
	want, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		return 0, "", err
	}
	for _, e := range info.Endpoint {
		n, value, err := fetchEndpoint(ctx, client, e, want)
		if err != nil {
			return rows, first, err
		}
		if rows == 0 {
			first = value
		}
		rows += n
	}
	return rows, first, nil
}

type schemaError struct{ promised, sent *arrow.Schema }

func (e schemaError) Error() string {
	return "promised " + e.promised.String() + ", sent " + e.sent.String()
}

func fetchEndpoint(ctx context.Context, client *flightsql.Client, e *flight.FlightEndpoint, want *arrow.Schema) (rows int64, first string, _ error) {
	reader, err := client.DoGet(ctx, e.Ticket)
	if err != nil {
		return 0, "", err
	}
	defer reader.Release()
	if !want.Equal(reader.Schema()) {
		return 0, "", schemaError{want, reader.Schema()}
	}
	for reader.Next() {
		batch := reader.RecordBatch()
		if rows == 0 && batch.NumRows() > 0 {
			first = batch.Column(0).ValueStr(0)
		}
		rows += batch.NumRows()
	}
	return rows, first, reader.Err()
}

func query(ctx context.Context, client *flightsql.Client, sql string) (rows int64, first string, err error) {
	info, err := client.Execute(ctx, sql)
	return fetch(ctx, client, info, err)
}

// scalar is the only value of a result.
func scalar(t testing.TB, ctx context.Context, client *flightsql.Client, sql string) string {
	t.Helper()
	rows, first, err := query(ctx, client, sql)
	require.NoError(t, err)
	require.EqualValues(t, 1, rows)
	return first
}
