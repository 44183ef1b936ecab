// Package server is the coordinator as a library: it takes SQL from Flight SQL
// clients, plans it, has the scanners do what they can, and finishes the rest
// in an embedded DuckDB. ARCHITECTURE.md beside this file is the map.
//
// A statement passes the packages below in this order: flightsql (the wire to
// the client), query (one statement), plan (what runs where), exec (runs it),
// with catalog (who owns what) and engine (DuckDB) beside them.
package server
