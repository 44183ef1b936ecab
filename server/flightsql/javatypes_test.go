package flightsql

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
)

func TestParameterSchema(t *testing.T) {
	t.Parallel()
	exact := arrow.NewSchema([]arrow.Field{
		{Name: "1", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
		{Name: "2", Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}},
		{Name: "3", Type: arrow.FixedWidthTypes.Time64us},
		{Name: "4", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	millis := arrow.NewSchema([]arrow.Field{
		{Name: "1", Type: &arrow.TimestampType{Unit: arrow.Millisecond}},
		{Name: "2", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		{Name: "3", Type: arrow.FixedWidthTypes.Time32ms},
		{Name: "4", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	for agent, want := range map[string]*arrow.Schema{
		"grpc-java-netty/1.71.0":       millis,
		"grpc-go/1.84.0":               exact,
		"JDBC Flight SQL Driver 19.0":  exact,
		"curl/8 (like grpc-java-ish/)": exact,
	} {
		ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs("user-agent", agent))
		require.True(t, want.Equal(parameterSchema(ctx, exact)), agent)
		require.Nil(t, parameterSchema(ctx, nil))
	}
	require.Same(t, exact, parameterSchema(t.Context(), exact))
}
