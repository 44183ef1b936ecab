// Package duckdb is a scanner source over DuckDB: Parquet, CSV and JSON files,
// and tables of DuckDB databases. A partition is a file (or several) or one
// database table.
//
// A pushdown specification becomes one SQL statement over all the partitions it
// names (sql.go, expr.go, literal.go), so that DuckDB parallelises in and across
// them, and the result is streamed (stream.go) and copied into Arrow batches
// bounded by bytes (reader.go, convert.go): memory stays constant whatever the
// size of the result.
//
// All sources of a process share one in-memory instance, [Engine]: its threads,
// its memory limit and its warm connections. It never loads or installs an
// extension, and its time zone is UTC.
package duckdb
