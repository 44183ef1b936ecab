package duckdb

import (
	"context"
	"fmt"

	"github.com/tributary-db/tributary/pushdown/status"
)

// attachment is a DuckDB database file opened for reading.
type attachment struct {
	alias string
	stamp stamp
}

// attach opens a database file, once for all tables in it, and again when the
// file was replaced. It returns the name of the catalog.
func (e *Engine) attach(ctx context.Context, path string, now stamp) (string, error) {
	e.attachMu.Lock()
	defer e.attachMu.Unlock()
	old := e.attached[path]
	if old != nil && old.stamp == now {
		return old.alias, nil
	}
	if old != nil {
		delete(e.attached, path)
		if err := e.exec(ctx, "DETACH "+quoteIdent(old.alias)); err != nil {
			return "", status.Wrap(status.FailedPrecondition, err, "cannot reopen the database %q", path)
		}
	}
	e.attaches++
	a := &attachment{alias: fmt.Sprintf("db%d", e.attaches), stamp: now}
	sql := fmt.Sprintf("ATTACH %s AS %s (TYPE duckdb, READ_ONLY)", quoteText(path), quoteIdent(a.alias))
	if err := e.exec(ctx, sql); err != nil {
		return "", status.Wrap(status.FailedPrecondition, err, "cannot open the database %q", path)
	}
	e.attached[path] = a
	return a.alias, nil
}
