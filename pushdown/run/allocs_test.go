package run_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

var allocSchema = arrow.NewSchema([]arrow.Field{
	{Name: "s", Type: arrow.BinaryTypes.String}, {Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}},
	{Name: "x", Type: arrow.PrimitiveTypes.Int64}, {Name: "y", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "m", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}},
}, nil)

// allocBatch has rows in 40 groups by text and 1000 by number.
func allocBatch(t *testing.T, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, allocSchema)
	defer b.Release()
	for i := range rows {
		text := fmt.Sprintf("a text too long to be kept as a key in place %d", i%40)
		b.Field(0).(*array.StringBuilder).Append(text)
		require.NoError(t, b.Field(1).(*array.BinaryDictionaryBuilder).AppendString(text))
		b.Field(2).(*array.Int64Builder).Append(int64(i % 1000))
		if i%7 == 0 {
			b.Field(3).AppendNull()
		} else {
			b.Field(3).(*array.Int64Builder).Append(int64(i))
		}
		require.NoError(t, b.Field(4).(*array.Decimal128Builder).AppendValueFromString(fmt.Sprintf("%d.25", i)))
	}
	return b.NewRecordBatch()
}

// TestNoAllocationPerRow: what a batch costs does not grow with its rows.
func TestNoAllocationPerRow(t *testing.T) {
	column := func(name string) pushdown.Column {
		return pushdown.Column{Name: name, DataType: allocSchema.Field(allocSchema.FieldIndices(name)[0]).Type}
	}
	group := func(keys []string, of string) pushdown.Spec {
		s := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit}
		for _, k := range keys {
			s.GroupBy = append(s.GroupBy, pushdown.NamedExpr{Name: k, Expr: column(k)})
		}
		for i, f := range []pushdown.AggFunc{pushdown.CountStar, pushdown.Count, pushdown.Sum, pushdown.Min, pushdown.Max} {
			a := pushdown.Aggregate{Name: fmt.Sprint(i), Func: f}
			if f != pushdown.CountStar {
				a.Arg = column(of)
			}
			if a.Arg != nil && of == "s" && f == pushdown.Sum {
				continue
			}
			s.Aggregates = append(s.Aggregates, a)
		}
		return s
	}
	less := func(name string, n int64) pushdown.Expr {
		return pushdown.Compare{Op: pushdown.Less, Left: column(name), Right: pushdown.Literal{Value: scalar.NewInt64Scalar(n)}}
	}
	filtered := group([]string{"s"}, "x")
	filtered.Filter = []pushdown.Expr{less("x", 900), less("y", 50_000), pushdown.Like{Arg: column("s"), Kind: pushdown.LikePattern, Pattern: "%text%place _"}}
	scan := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: []pushdown.Column{column("x"), column("s")}, Limit: pushdown.NoLimit, Filter: filtered.Filter[:2]}
	top := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: []pushdown.Column{column("x"), column("s")}, Limit: 10,
		OrderBy: []pushdown.SortKey{{Column: column("x"), Descending: true}, {Column: column("s")}}}
	few, many := allocBatch(t, 8000), allocBatch(t, 64_000)
	defer few.Release()
	defer many.Release()
	for name, spec := range map[string]pushdown.Spec{
		"text": group([]string{"s"}, "x"), "dictionary": group([]string{"d"}, "y"), "two keys": group([]string{"s", "x"}, "m"),
		"number": group([]string{"x"}, "s"), "all": group(nil, "y"), "filter": filtered, "scan": scan, "top": top,
	} {
		t.Run(name, func(t *testing.T) {
			r, err := run.New(spec, allocSchema, run.Options{})
			require.NoError(t, err)
			defer r.Release()
			push := func(batch arrow.RecordBatch) func() {
				return func() {
					out, err := r.Push(batch)
					require.NoError(t, err)
					pushdowntest.ReleaseAll(out)
				}
			}
			push(many)() // the groups and the scratch are there
			base := testing.AllocsPerRun(5, push(few))
			more := testing.AllocsPerRun(5, push(many))
			// A window of 8192 rows may allocate a fixed number of headers.
			require.Less(t, (more-base)/float64(many.NumRows()-few.NumRows()), 0.01, "%v allocations for %d rows, %v for %d", base, few.NumRows(), more, many.NumRows())
		})
	}
}
