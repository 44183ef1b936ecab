package codec

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// callSpec has every function.
func callSpec() pushdown.Spec {
	a, one := col("a", arrow.PrimitiveTypes.Int64), lit(scalar.NewInt64Scalar(1))
	s := pushdown.Spec{Table: "t", Limit: pushdown.NoLimit}
	for f := pushdown.FuncYear; f <= pushdown.FuncAbs; f++ {
		s.Filter = append(s.Filter, pushdown.Call{Func: f, Args: []pushdown.Expr{a, one}, DataType: arrow.PrimitiveTypes.Int64})
	}
	return s
}

func callRequest() OpenRequest { return OpenRequest{ScanID: "q_1/s1", Spec: callSpec()} }

// TestCallsRoundTrip also pins the numbers of the functions.
func TestCallsRoundTrip(t *testing.T) {
	t.Parallel()
	data, err := encodeOpen(callRequest())
	require.NoError(t, err)
	requireGolden(t, "open_calls", data)
	got, err := decodeOpen(data)
	require.NoError(t, err)
	want := callSpec()
	require.Equal(t, want.Hash(), got.Spec.Hash())
	require.Equal(t, want.String(), got.Spec.String())
	require.Len(t, pb.Call_Func_name, len(want.Filter)+1)
}

func TestUnknownCalls(t *testing.T) {
	t.Parallel()
	for _, p := range []*pb.Call{nil, {}, {Func: pb.Call_FUNC_ABS + 1}, {Func: pb.Call_FUNC_ABS}} {
		_, err := exprFromProto(&pb.Expr{Expr: &pb.Expr_Call{Call: p}})
		require.Equal(t, status.InvalidArgument, status.CodeOf(err))
	}
}
