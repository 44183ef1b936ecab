package engine

import (
	"context"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// errorClasses maps the prefix of a DuckDB error text to a code.
var errorClasses = []struct {
	prefix string
	code   status.Code
}{
	{"Out of Memory Error", status.ResourceExhausted},
	{"Out of Range Error", status.OutOfRange},
	{"Conversion Error: Type ", status.OutOfRange}, // … with value … is out of range
	{"Conversion Error: Could not cast value", status.OutOfRange},
	{"Conversion Error: Failed to cast decimal", status.OutOfRange},
	{"Conversion Error: Casting value", status.OutOfRange},
	{"Conversion Error", status.InvalidArgument},
	{"Invalid Input Error", status.InvalidArgument},
	{"Invalid type Error", status.InvalidArgument},
	{"Mismatch Type Error", status.InvalidArgument},
	{"Decimal Error", status.OutOfRange},
	{"Parser Error", status.InvalidArgument},
	{"Syntax Error", status.InvalidArgument},
	{"Binder Error", status.InvalidArgument},
	{"Catalog Error", status.InvalidArgument},
	{"Expression Error", status.InvalidArgument},
	{"Sequence Error", status.InvalidArgument},
	{"Parameter", status.InvalidArgument},
	{"parameter not allowed", status.InvalidArgument},
	{"Not implemented Error", status.Unimplemented},
	{"INTERRUPT Error", status.Canceled},
	{"Permission Error", status.PermissionDenied},
	{"Missing Extension Error", status.Unimplemented},
	{"Extension", status.Unimplemented},
}

// duckError turns an error text of DuckDB into a typed error.
func duckError(text string) error {
	for _, c := range errorClasses {
		if strings.HasPrefix(text, c.prefix) {
			return status.New(c.code, "%s", remedied(c.code, text))
		}
	}
	if strings.Contains(text, "max_temp_directory_size") || strings.Contains(text, "No space left") {
		return status.New(status.ResourceExhausted, "%s", remedied(status.ResourceExhausted, text))
	}
	return status.New(status.Internal, "the engine failed: %s", text)
}

// remedied replaces DuckDB's advice about memory, which names settings that a
// client cannot change here.
func remedied(code status.Code, text string) string {
	if code != status.ResourceExhausted {
		return text
	}
	line, _, _ := strings.Cut(text, "\n")
	return line + "; the query needs more memory or spill space than one query may use: narrow it, or raise the coordinator's limits"
}

// typeNames maps the "error_type" of a serialisation to the prefix of its text.
var typeNames = map[string]string{
	"parser": "Parser Error", "syntax": "Syntax Error", "binder": "Binder Error", "catalog": "Catalog Error",
	"permission": "Permission Error", "not implemented": "Not implemented Error",
	"invalid input": "Invalid Input Error", "conversion": "Conversion Error", "out of range": "Out of Range Error",
	"out of memory": "Out of Memory Error", "interrupt": "INTERRUPT Error", "missing extension": "Missing Extension Error",
	"expression": "Expression Error", "invalid type": "Invalid type Error", "mismatch type": "Mismatch Type Error",
	"parameter not resolved": "Parameter Not Resolved Error", "decimal": "Decimal Error",
}

// ctxError is the error of an ended context, as a typed error.
func ctxError(ctx context.Context) error {
	return status.Wrap(status.Canceled, context.Cause(ctx), "the query was stopped")
}
