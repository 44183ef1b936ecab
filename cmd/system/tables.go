package system

import (
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/query"
)

// column is a column of a table whose rows are made of a T.
type column[T any] struct {
	name  string
	typ   arrow.DataType
	value func(T) any // string, int64, float64, time.Time, or nil for NULL
}

var (
	text    = arrow.BinaryTypes.String
	integer = arrow.PrimitiveTypes.Int64
	double  = arrow.PrimitiveTypes.Float64
	moment  = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
)

// round is a round of a query.
type round struct {
	query  string
	number int
	adapt.Round
}

// scan is what one scanner did for one scan of a query.
type scan struct {
	query string
	query.ScanRecord
}

func queries() []column[query.Record] {
	type r = query.Record
	return []column[r]{
		{"query_id", text, func(r r) any { return r.ID }},
		{"user_name", text, func(r r) any { return orNull(r.User) }},
		{"sql", text, func(r r) any { return r.SQL }},
		{"begun", moment, func(r r) any { return r.Begun }},
		{"elapsed_ms", double, func(r r) any { return millis(r.Elapsed) }},
		{"outcome", text, func(r r) any { return r.Outcome }},
		{"error", text, func(r r) any { return orNull(r.Error) }},
		{"mode", text, func(r r) any { return orNull(r.Mode) }},
		{"result_rows", integer, ended(func(r r) int64 { return r.Rows })},
		{"rows_scanned", integer, ended(func(r r) int64 { return r.RowsScanned })},
		{"bytes_received", integer, ended(func(r r) int64 { return r.BytesReceived })},
		{"rounds", integer, ended(func(r r) int64 { return int64(len(r.Rounds)) })},
	}
}

func rounds() []column[round] {
	return []column[round]{
		{"query_id", text, func(r round) any { return r.query }},
		{"round", integer, func(r round) any { return int64(r.number) }},
		{"at", moment, func(r round) any { return r.At }},
		{"elapsed_ms", double, func(r round) any { return millis(r.Elapsed) }},
		{"fact", text, func(r round) any { return orNull(r.Fact) }},
		{"rules", text, func(r round) any { return joined(r.Fired) }},
		{"started", text, func(r round) any { return joined(r.Started) }},
		{"cancelled", text, func(r round) any { return joined(r.Cancelled) }},
		{"removed", text, func(r round) any { return joined(r.Removed) }},
		{"narrowed", text, func(r round) any { return joined(r.Narrowed) }},
		{"narrowed_running", text, func(r round) any { return joined(r.Told) }},
		{"why", text, func(r round) any { return joined(r.Why) }},
		{"plan_before", text, func(r round) any { return orNull(r.Before) }},
		{"plan_after", text, func(r round) any { return orNull(r.After) }},
	}
}

func scans() []column[scan] {
	return []column[scan]{
		{"query_id", text, func(s scan) any { return s.query }},
		{"scan", text, func(s scan) any { return s.Scan }},
		{"table_name", text, func(s scan) any { return s.Table }},
		{"scanner", text, func(s scan) any { return s.Scanner }},
		{"partitions", integer, func(s scan) any { return int64(s.Partitions) }},
		{"mode", text, func(s scan) any { return orNull(s.Mode) }},
		{"rows_scanned", integer, func(s scan) any { return s.RowsScanned }},
		{"rows_received", integer, func(s scan) any { return s.RowsReceived }},
		{"bytes_received", integer, func(s scan) any { return s.BytesReceived }},
		{"batches", integer, func(s scan) any { return s.Batches }},
		{"rows_dropped", integer, func(s scan) any { return s.RowsDropped }},
		{"bytes_saved", integer, func(s scan) any { return s.BytesSaved }},
		{"retries", integer, func(s scan) any { return int64(s.Retries) }},
		{"first_batch_ms", double, func(s scan) any { return unlessZero(s.FirstBatch) }},
		{"elapsed_ms", double, func(s scan) any { return millis(s.Elapsed) }},
	}
}

func roundsOf(records []query.Record) (out []round) {
	for _, r := range records {
		for i, of := range r.Rounds {
			out = append(out, round{r.ID, i + 1, of})
		}
	}
	return out
}

func scansOf(records []query.Record) (out []scan) {
	for _, r := range records {
		for _, of := range r.Scans {
			out = append(out, scan{r.ID, of})
		}
	}
	return out
}

// ended is NULL while a query runs.
func ended(value func(query.Record) int64) func(query.Record) any {
	return func(r query.Record) any {
		if r.Outcome == query.Running {
			return nil
		}
		return value(r)
	}
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func unlessZero(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return millis(d)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func joined(names []string) any { return orNull(strings.Join(names, ", ")) }
