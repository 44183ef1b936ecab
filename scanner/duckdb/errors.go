package duckdb

import (
	"context"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// errorKinds maps the beginning of DuckDB's messages to codes. The C API gives
// no error type for a statement that fails to prepare, so the text decides
// everywhere.
func errorKinds() []errorKind {
	return []errorKind{
		{"Conversion Error: CSV", status.DataLoss},
		{"Invalid Input Error: CSV", status.DataLoss},
		{"Invalid Input Error: JSON", status.DataLoss},
		{"Invalid Input Error: Malformed JSON", status.DataLoss},
		{"Out of Range", status.OutOfRange},
		{"Invalid Input Error: " + inexact, status.OutOfRange},
		{"Conversion", status.OutOfRange},
		{"INTERRUPT", status.Canceled},
		{"Out of Memory", status.ResourceExhausted},
		{"IO Error", status.FailedPrecondition},
		{"Permission", status.PermissionDenied},
		{"Catalog", status.FailedPrecondition},
		{"Invalid Input", status.FailedPrecondition},
		{"Not implemented", status.Unimplemented},
		{"Binder", status.Internal},
		{"Parser", status.Internal},
	}
}

type errorKind struct {
	prefix string
	code   status.Code
}

// engineError types a message of DuckDB. A statement that was interrupted
// because ctx ended reports ctx's error.
func engineError(ctx context.Context, msg string) error {
	if err := ctx.Err(); err != nil {
		return status.Wrap(status.Canceled, err, "the scan was stopped")
	}
	code := status.Internal
	for _, k := range errorKinds() {
		if strings.HasPrefix(msg, k.prefix) {
			code = k.code
			break
		}
	}
	return status.New(code, "%s", firstLines(msg))
}

// firstLines keeps the message and drops DuckDB's hints, which name options
// that the user of a federated table does not have.
func firstLines(msg string) string {
	file := ""
	if _, rest, ok := strings.Cut(msg, "\n  file = "); ok { // a hint of CSV errors
		file, _, _ = strings.Cut(rest, "\n")
		file = " (file " + strconv.Quote(strings.TrimSpace(file)) + ")"
	}
	for _, hint := range []string{"\n\nLINE ", "\n\nPossible ", "\nPossible ", "\n\nCandidate", "\n\n*"} {
		if i := strings.Index(msg, hint); i > 0 {
			msg = msg[:i]
		}
	}
	return strings.TrimSpace(msg) + file
}
