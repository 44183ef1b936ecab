package query

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

func TestPartRoundTrip(t *testing.T) {
	t.Parallel()
	want := plan.Part{
		SQL: "SELECT 'é'", Residual: "SELECT x0 FROM remote('scan1') AS r(x0)", Columns: []int{1, 0},
		Scanner: "s1", Epoch: "e", Version: "v",
		Schema: arrow.NewSchema([]arrow.Field{{Name: "a", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}, Nullable: true}}, nil),
		Spec: pushdown.Spec{
			Table: "main.t", Partitions: []string{"p0", "p1"}, Limit: pushdown.NoLimit,
			Columns: []pushdown.Column{{Name: "a", DataType: arrow.PrimitiveTypes.Int64}, {Name: "b", DataType: arrow.BinaryTypes.String}},
		},
	}
	raw, err := EncodePart(&want)
	require.NoError(t, err)
	got, err := decodePart(raw)
	require.NoError(t, err)
	require.Equal(t, want.Spec.String(), got.Spec.String())
	require.True(t, want.Schema.Equal(got.Schema))
	want.Spec, want.Schema, got.Spec, got.Schema = pushdown.Spec{}, nil, pushdown.Spec{}, nil
	require.Equal(t, want, *got)
	for _, bad := range []string{"", "{}", `{"schema": "AAAA"}`, string(raw[:len(raw)/2])} {
		_, err := decodePart([]byte(bad))
		require.Error(t, err, bad)
	}
}
