package eval

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

const benchRows = 1 << 20

// benchBatch has integers, decimals, strings and a dictionary.
func benchBatch() arrow.RecordBatch {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 15, Scale: 2}},
		{Name: "s", Type: arrow.BinaryTypes.String}, {Name: "e", Type: dict}, {Name: "f", Type: arrow.PrimitiveTypes.Float64},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	r := rand.New(rand.NewPCG(1, 2))
	for range benchRows {
		v := int64(r.IntN(1000))
		b.Field(0).(*array.Int64Builder).Append(v)
		b.Field(1).(*array.Decimal128Builder).Append(arrowDecimal(v * 100))
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("customer %d of the shop", v))
		_ = b.Field(3).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprintf("kind %d", v%20))
		b.Field(4).(*array.Float64Builder).Append(float64(v))
		if v%7 == 0 {
			b.Field(5).AppendNull()
		} else {
			b.Field(5).(*array.Int32Builder).Append(int32(v))
		}
	}
	return b.NewRecordBatch()
}

func BenchmarkSelect(b *testing.B) {
	batch := benchBatch()
	defer batch.Release()
	col := func(i int) pushdown.Column {
		f := batch.Schema().Field(i)
		return pushdown.Column{Name: f.Name, DataType: f.Type}
	}
	var many []pushdown.Literal
	for i := range 10_000 {
		many = append(many, pushdown.Literal{Value: scalar.NewInt64Scalar(int64(i * 7))})
	}
	less := func(i int, s scalar.Scalar) pushdown.Expr {
		return pushdown.Compare{Op: pushdown.Less, Left: col(i), Right: pushdown.Literal{Value: s}}
	}
	equal := func(i int, s scalar.Scalar) pushdown.Expr {
		return pushdown.Compare{Op: pushdown.Equal, Left: col(i), Right: pushdown.Literal{Value: s}}
	}
	cases := []struct {
		name string
		expr []pushdown.Expr
	}{
		{"int64<1%", []pushdown.Expr{less(0, scalar.NewInt64Scalar(10))}},
		{"int64<50%", []pushdown.Expr{less(0, scalar.NewInt64Scalar(500))}},
		{"nullable", []pushdown.Expr{less(5, scalar.NewInt32Scalar(10))}},
		{"float64", []pushdown.Expr{less(4, scalar.NewFloat64Scalar(10))}},
		{"decimal", []pushdown.Expr{less(1, scalar.NewDecimal128Scalar(arrowDecimal(1000), batch.Schema().Field(1).Type))}},
		{"string=", []pushdown.Expr{equal(2, scalar.NewStringScalar("customer 12 of the shop"))}},
		{"dictionary=", []pushdown.Expr{equal(3, scalar.NewStringScalar("kind 3"))}},
		{"in 10000", []pushdown.Expr{pushdown.In{Arg: col(0), Values: many}}},
		{"like", []pushdown.Expr{pushdown.Like{Arg: col(2), Kind: pushdown.LikePattern, Pattern: "%12%shop"}}},
		{"int and like", []pushdown.Expr{pushdown.Like{Arg: col(2), Kind: pushdown.LikePattern, Pattern: "%12%shop"}, less(0, scalar.NewInt64Scalar(10))}},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			p, err := CompileFilter(c.expr, batch.Schema())
			require.NoError(b, err)
			for b.Loop() {
				_, _, err := p.Select(batch, nil)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func BenchmarkEval(b *testing.B) {
	batch := benchBatch()
	defer batch.Release()
	d := pushdown.Column{Name: "d", DataType: batch.Schema().Field(1).Type}
	i := pushdown.Column{Name: "i", DataType: arrow.PrimitiveTypes.Int64}
	s := pushdown.Column{Name: "s", DataType: arrow.BinaryTypes.String}
	cond := pushdown.Compare{Op: pushdown.Less, Left: i, Right: pushdown.Literal{Value: scalar.NewInt64Scalar(500)}}
	for name, e := range map[string]pushdown.Expr{
		"decimal*": pushdown.Arith{Op: pushdown.Multiply, Left: d, Right: d, DataType: &arrow.Decimal128Type{Precision: 30, Scale: 4}},
		"int64+":   pushdown.Arith{Op: pushdown.Add, Left: i, Right: i, DataType: arrow.PrimitiveTypes.Int64},
		"case":     pushdown.Case{Whens: []pushdown.When{{Cond: cond, Then: s}}, DataType: arrow.BinaryTypes.String},
	} {
		b.Run(name, func(b *testing.B) {
			p, err := Compile(e, batch.Schema())
			require.NoError(b, err)
			for b.Loop() {
				arr, err := p.Eval(batch, memory.DefaultAllocator)
				require.NoError(b, err)
				arr.Release()
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
