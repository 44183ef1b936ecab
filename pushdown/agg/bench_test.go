package agg

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

const benchRows = 64 << 10

func utf8Dict() *arrow.DictionaryType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}
}

// benchBatch has string keys of 40 values (s, and d as a dictionary), integers
// of several ranges and null as nullable integers.
func benchBatch(b *testing.B) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(1, 2))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String}, {Name: "d", Type: utf8Dict()},
		{Name: "k40", Type: arrow.PrimitiveTypes.Int32}, {Name: "k30k", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "null", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer rb.Release()
	for range benchRows {
		v := r.IntN(40)
		s := fmt.Sprintf("scope-%d", v)
		rb.Field(0).(*array.StringBuilder).Append(s)
		require.NoError(b, rb.Field(1).(*array.BinaryDictionaryBuilder).AppendString(s))
		rb.Field(2).(*array.Int32Builder).Append(int32(r.IntN(40)))
		rb.Field(3).(*array.Int64Builder).Append(int64(r.IntN(30000)))
		rb.Field(4).(*array.Int64Builder).Append(r.Int64())
		rb.Field(6).(*array.Float64Builder).Append(r.Float64())
		if nb := rb.Field(5).(*array.Int64Builder); r.IntN(10) == 0 {
			nb.AppendNull()
		} else {
			nb.Append(int64(v))
		}
	}
	return rb.NewRecordBatch()
}

func BenchmarkUpdate(b *testing.B) {
	batch := benchBatch(b)
	defer batch.Release()
	col := func(name string) pushdown.Column {
		return pushdown.Column{Name: name, DataType: batch.Schema().Field(batch.Schema().FieldIndices(name)[0]).Type}
	}
	aggs := func(name string, funcs ...pushdown.AggFunc) (out []pushdown.Aggregate) {
		for i, f := range funcs {
			a := pushdown.Aggregate{Name: fmt.Sprint(i), Func: f}
			if f != pushdown.CountStar {
				a.Arg = col(name)
			}
			out = append(out, a)
		}
		return out
	}
	all := []pushdown.AggFunc{pushdown.Sum, pushdown.Min, pushdown.Max}
	for _, c := range []struct {
		keys []string
		aggs []pushdown.Aggregate
		name string
	}{
		{[]string{"d"}, aggs("", pushdown.CountStar), "count"},
		{[]string{"s"}, aggs("", pushdown.CountStar), "count"},
		{[]string{"k40"}, aggs("", pushdown.CountStar), "count"},
		{[]string{"k30k"}, aggs("", pushdown.CountStar), "count"},
		{[]string{"d", "k40"}, aggs("x", all...), "summinmax-int64"},
		{[]string{"s", "k40"}, aggs("x", all...), "summinmax-int64"},
		{[]string{"k40", "k30k"}, aggs("x", all...), "summinmax-int64"},
		{[]string{"d", "k40"}, aggs("null", all...), "summinmax-nulls"},
		{[]string{"d", "k40"}, aggs("f", all...), "summinmax-float64"},
		{[]string{"d"}, aggs("s", pushdown.Min, pushdown.Max), "minmax-utf8"},
		{nil, aggs("x", all...), "summinmax-int64"},
		{nil, aggs("k40", all...), "summinmax-int32"},
		{nil, aggs("f", all...), "summinmax-float64"},
	} {
		b.Run(fmt.Sprintf("keys=%v/aggs=%s", c.keys, c.name), func(b *testing.B) {
			spec := &pushdown.Spec{Table: "main.t", Aggregates: c.aggs}
			for _, k := range c.keys {
				spec.GroupBy = append(spec.GroupBy, pushdown.NamedExpr{Name: k, Expr: col(k)})
			}
			a, err := New(spec, batch.Schema(), Options{})
			require.NoError(b, err)
			defer a.Release()
			for b.Loop() {
				require.NoError(b, a.Update(batch, nil))
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
