package engine

import (
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// setting is one configuration value.
type setting struct{ name, value string }

// openDatabase opens an in-memory database with settings that hold from its start.
func openDatabase(settings []setting) (duckdb.Database, error) {
	var cfg duckdb.Config
	if duckdb.CreateConfig(&cfg) != duckdb.StateSuccess {
		return duckdb.Database{}, status.New(status.Internal, "the engine refused to create a configuration")
	}
	defer duckdb.DestroyConfig(&cfg)
	for _, s := range settings {
		if duckdb.SetConfig(cfg, s.name, s.value) != duckdb.StateSuccess {
			return duckdb.Database{}, status.New(status.InvalidArgument, "the engine refused the setting %s = %q", s.name, s.value)
		}
	}
	var db duckdb.Database
	var text string
	if duckdb.OpenExt(":memory:", &db, cfg, &text) != duckdb.StateSuccess {
		return duckdb.Database{}, status.Wrap(status.Internal, duckError(text), "open the engine")
	}
	return db, nil
}

// connect opens a connection.
func connect(db duckdb.Database) (duckdb.Connection, error) {
	var conn duckdb.Connection
	if duckdb.Connect(db, &conn) != duckdb.StateSuccess {
		return conn, status.New(status.Internal, "the engine refused a connection")
	}
	return conn, nil
}

// exec runs statements and drops their results.
func exec(conn duckdb.Connection, statements ...string) error {
	for _, sql := range statements {
		var res duckdb.Result
		state := duckdb.Query(conn, sql, &res)
		text := ""
		if state != duckdb.StateSuccess {
			text = duckdb.ResultError(&res)
		}
		duckdb.DestroyResult(&res)
		if state != duckdb.StateSuccess {
			return duckError(text)
		}
	}
	return nil
}

// prepare prepares one statement.
func prepare(conn duckdb.Connection, sql string) (duckdb.PreparedStatement, error) {
	var stmt duckdb.PreparedStatement
	if duckdb.Prepare(conn, sql, &stmt) != duckdb.StateSuccess {
		text := duckdb.PrepareError(stmt)
		duckdb.DestroyPrepare(&stmt)
		return duckdb.PreparedStatement{}, duckError(text)
	}
	return stmt, nil
}

// scalar runs a prepared statement with text parameters and returns the text in
// its first row and column.
func scalar(stmt duckdb.PreparedStatement, args ...string) (string, error) {
	for i, a := range args {
		duckdb.BindVarchar(stmt, duckdb.IdxT(i+1), a)
	}
	var res duckdb.Result
	state := duckdb.ExecutePrepared(stmt, &res)
	defer duckdb.DestroyResult(&res)
	if state != duckdb.StateSuccess {
		return "", duckError(duckdb.ResultError(&res))
	}
	chunk := duckdb.FetchChunk(res)
	defer duckdb.DestroyDataChunk(&chunk)
	if chunk.Ptr == nil || duckdb.DataChunkGetSize(chunk) == 0 {
		return "", nil
	}
	vec := duckdb.DataChunkGetVector(chunk, 0)
	return string(stringsOf(vec, 1)[0].bytes()), nil
}
