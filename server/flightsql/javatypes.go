package flightsql

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/grpc/metadata"
)

// parameterSchema is the schema of a statement's parameters for the client that
// asks. The JDBC driver up to 18.3 writes milliseconds into a timestamp or time
// of any unit, so it is told milliseconds, which is all that it keeps. Values
// are taken in any unit.
func parameterSchema(ctx context.Context, schema *arrow.Schema) *arrow.Schema {
	if schema == nil || !isJava(ctx) {
		return schema
	}
	fields := schema.Fields()
	for i, f := range fields {
		switch t := f.Type.(type) {
		case *arrow.TimestampType:
			fields[i].Type = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: t.TimeZone}
		case *arrow.Time64Type:
			fields[i].Type = arrow.FixedWidthTypes.Time32ms
		}
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// isJava reports whether the client is one of gRPC's Java library, by the name
// that it gives itself unless the program has set another.
func isJava(ctx context.Context) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, agent := range md.Get("user-agent") {
		if strings.HasPrefix(agent, "grpc-java") {
			return true
		}
	}
	return false
}
