package eval

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

// TestLongIn selects by lists of 10,000 values.
func TestLongIn(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	schema := schemaOf(arrow.Field{Name: "i64", Type: i64.DataType}, arrow.Field{Name: "s", Type: arrow.BinaryTypes.String})
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range 10_000 {
		v := r.Int64N(40_000) - 20_000
		b.Field(0).(*array.Int64Builder).Append(v)
		b.Field(1).(*array.StringBuilder).Append(strconv.FormatInt(v, 10))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	member := map[int64]bool{}
	var ints []pushdown.Literal
	var texts []string
	for range 10_000 {
		v := r.Int64N(40_000) - 20_000
		member[v] = true
		ints = append(ints, lit(scalar.NewInt64Scalar(v)))
		texts = append(texts, strconv.FormatInt(v, 10))
	}
	var want []int32
	for i, v := range batch.Column(0).(*array.Int64).Int64Values() {
		if member[v] {
			want = append(want, int32(i))
		}
	}
	s := pushdown.Column{Name: "s", DataType: arrow.BinaryTypes.String}
	for _, e := range []pushdown.Expr{pushdown.In{Arg: i64, Values: ints}, pushdown.In{Arg: s, Values: strs(texts...)}} {
		p, err := CompileFilter([]pushdown.Expr{e}, schema)
		require.NoError(t, err)
		sel, _, err := p.Select(batch, nil)
		require.NoError(t, err)
		require.Equal(t, want, sel)
	}
}

// TestConstants compares literals with each other.
func TestConstants(t *testing.T) {
	t.Parallel()
	batch := extremes(t)
	defer batch.Release()
	one, two := lit(scalar.NewInt8Scalar(1)), lit(scalar.NewInt8Scalar(2))
	for want, e := range map[string]pushdown.Expr{
		"[true true true]":       pushdown.Compare{Op: pushdown.Less, Left: one, Right: two},
		"[false false false]":    pushdown.Compare{Op: pushdown.Greater, Left: one, Right: two},
		"[(null) (null) (null)]": pushdown.Compare{Op: pushdown.Less, Left: one, Right: null(arrow.PrimitiveTypes.Int8)},
		"[3 3 3]":                arith(pushdown.Add, one, two),
		"[1 1 1]":                one,
		`["x" "x" "x"]`:          strs("x")[0],
		"[127 1 2]":              pushdown.Coalesce{Args: []pushdown.Expr{i8, two}, DataType: i8.DataType},
		"[-126 0 (null)]":        arith(pushdown.Subtract, one, i8),
	} {
		p, err := Compile(e, table)
		require.NoError(t, err)
		got, err := p.Eval(batch, memory.DefaultAllocator)
		require.NoError(t, err)
		require.Equal(t, want, got.String())
		got.Release()
	}
}
