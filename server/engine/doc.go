// Package engine wraps the embedded DuckDB, through its C API.
//
// A [Pool] runs the part of a query that the scanners do not: SQL over remote
// inputs, which DuckDB reads through the table function remote('id'). Every
// running query has an instance of its own, so that a slow scanner of one query
// never blocks a worker thread of another. A [Binder] is the planning instance:
// empty tables with the federated schemas, against which statements are parsed,
// bound and rewritten.
//
// Both kinds of instance are locked down: no external access, no extensions, no
// configuration, only one SELECT-like statement at a time.
//
// Rows cross the border in both directions by copying between Arrow buffers and
// DuckDB vectors of 2048 rows (fill_*.go, gather_*.go); strings of an input are
// referenced, not copied, and their memory is pinned while DuckDB may read it.
// duckdb_arrow_scan is not used: DuckDB pushes filters into it that a reader
// would have to apply.
package engine
