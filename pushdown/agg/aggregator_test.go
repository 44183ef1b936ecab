package agg_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
)

// checked is an allocator that must be empty when the test ends.
func checked(t *testing.T) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

func schemaOf(types ...arrow.DataType) *arrow.Schema {
	fields := make([]arrow.Field, len(types))
	for i, dt := range types {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// groupSpec groups by the first keys columns and computes each function over
// the column after them.
func groupSpec(schema *arrow.Schema, keys int, funcs ...pushdown.AggFunc) *pushdown.Spec {
	col := func(i int) pushdown.Column {
		return pushdown.Column{Name: schema.Field(i).Name, DataType: schema.Field(i).Type}
	}
	spec := &pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit}
	for i := range keys {
		spec.GroupBy = append(spec.GroupBy, pushdown.NamedExpr{Name: fmt.Sprintf("k%d", i), Expr: col(i)})
	}
	for i, f := range funcs {
		a := pushdown.Aggregate{Name: fmt.Sprintf("a%d", i), Func: f}
		if f != pushdown.CountStar {
			a.Arg = col(keys)
		}
		spec.Aggregates = append(spec.Aggregates, a)
	}
	return spec
}

var every = []pushdown.AggFunc{pushdown.CountStar, pushdown.Count, pushdown.Sum, pushdown.Min, pushdown.Max}

func newAggregator(t *testing.T, spec *pushdown.Spec, schema *arrow.Schema, opts agg.Options) *agg.Aggregator {
	a, err := agg.New(spec, schema, opts)
	require.NoError(t, err)
	t.Cleanup(a.Release)
	return a
}

// emitted empties a into rows of Go values.
func emitted(t *testing.T, a *agg.Aggregator) [][]any {
	out, err := a.Emit()
	require.NoError(t, err)
	defer agg.Release(out)
	return pushdowntest.Rows(out...)
}

func n(v int64) *big.Int { return big.NewInt(v) }

func TestExtremesOfTheTypes(t *testing.T) {
	t.Parallel()
	two64 := new(big.Int).SetUint64(math.MaxUint64)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name          string
		dt            arrow.DataType
		vals          []any
		sum, min, max any
	}{
		{"int8", arrow.PrimitiveTypes.Int8, []any{n(-128), n(-128), nil}, n(-256), n(-128), n(-128)},
		{"int64 beyond its range", arrow.PrimitiveTypes.Int64, []any{n(math.MaxInt64), n(math.MaxInt64), n(3)},
			new(big.Int).Add(two64, n(2)), n(3), n(math.MaxInt64)},
		{"int64 negative", arrow.PrimitiveTypes.Int64, []any{n(math.MinInt64), n(math.MinInt64)},
			new(big.Int).Neg(new(big.Int).Add(two64, n(1))), n(math.MinInt64), n(math.MinInt64)},
		{"uint64 beyond its range", arrow.PrimitiveTypes.Uint64, []any{two64, two64, n(0)},
			new(big.Int).Lsh(two64, 1), n(0), two64},
		{"uint32", arrow.PrimitiveTypes.Uint32, []any{n(math.MaxUint32), n(1)}, n(1 << 32), n(1), n(math.MaxUint32)},
		{"NaN is greatest", arrow.PrimitiveTypes.Float64, []any{nan, inf, 1.0}, nan, 1.0, nan},
		{"float32 negative", arrow.PrimitiveTypes.Float32, []any{-1.5, -inf, 0.5}, -inf, -inf, 0.5},
		{"decimal", &arrow.Decimal128Type{Precision: 10, Scale: 2}, []any{n(-1), n(250), nil}, n(249), n(-1), n(250)},
		{"all NULL", arrow.PrimitiveTypes.Int32, []any{nil, nil}, nil, nil, nil},
		{"no rows", arrow.PrimitiveTypes.Int32, nil, nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mem := checked(t)
			schema := schemaOf(c.dt)
			var rows [][]any
			valid := int64(0)
			for _, v := range c.vals {
				rows = append(rows, []any{v})
				if v != nil {
					valid++
				}
			}
			batch := pushdowntest.Batch(mem, schema, rows...)
			defer batch.Release()
			a := newAggregator(t, groupSpec(schema, 0, every...), schema, agg.Options{Alloc: mem})
			require.NoError(t, a.Update(batch, nil))
			want := [][]any{{n(int64(len(rows))), n(valid), c.sum, c.min, c.max}}
			pushdowntest.RequireSameRows(t, want, emitted(t, a))
		})
	}
}

func TestUngroupedAlwaysYieldsOneRow(t *testing.T) {
	t.Parallel()
	schema := schemaOf(arrow.PrimitiveTypes.Int64)
	a := newAggregator(t, groupSpec(schema, 0, every...), schema, agg.Options{Alloc: checked(t), MaxGroups: 1, MaxBytes: 1})
	require.False(t, a.Full())
	for range 2 {
		pushdowntest.RequireSameRows(t, [][]any{{n(0), n(0), nil, nil, nil}}, emitted(t, a))
	}
}

func TestGroupedYieldsNothingForNoRows(t *testing.T) {
	t.Parallel()
	schema := schemaOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)
	a := newAggregator(t, groupSpec(schema, 1, every...), schema, agg.Options{Alloc: checked(t)})
	require.Empty(t, emitted(t, a))
}

func TestFloatKeysAreCanonical(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	otherNaN := math.Float64frombits(math.Float64bits(math.NaN()) ^ 5)
	schema := schemaOf(arrow.PrimitiveTypes.Float64)
	batch := pushdowntest.Batch(mem, schema, []any{math.Copysign(0, -1)}, []any{0.0}, []any{otherNaN}, []any{-otherNaN}, []any{nil})
	defer batch.Release()
	spec := groupSpec(schema, 1, pushdown.CountStar)
	a := newAggregator(t, spec, schema, agg.Options{Alloc: mem})
	require.NoError(t, a.Update(batch, nil))
	require.Equal(t, 3, a.Groups())
	passed, err := a.PassThrough(batch, nil)
	require.NoError(t, err)
	defer agg.Release(passed)
	out, err := a.Emit()
	require.NoError(t, err)
	defer agg.Release(out)
	for _, b := range append(out, passed...) {
		for i := range int(b.NumRows()) {
			if f := b.Column(0).(*array.Float64).Value(i); b.Column(0).IsValid(i) {
				bits := math.Float64bits(f)
				require.Contains(t, []uint64{0, 0x7FF8000000000000}, bits)
			}
		}
	}
}

func TestManyGroupsAreEmittedInBoundedBatches(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	const groups = agg.MaxEmitRows + 1000
	b := array.NewInt64Builder(mem)
	defer b.Release()
	for i := range int64(groups) {
		b.Append(i)
	}
	col := b.NewArray()
	defer col.Release()
	schema := schemaOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	batch := array.NewRecordBatch(schema, []arrow.Array{col, col}, groups)
	defer batch.Release()
	a := newAggregator(t, groupSpec(schema, 1, pushdown.Sum), schema, agg.Options{Alloc: mem, MaxGroups: groups})
	for range 2 {
		require.NoError(t, a.Update(batch, nil))
		require.Equal(t, groups, a.Groups())
		require.True(t, a.Full())
	}
	out, err := a.Emit()
	require.NoError(t, err)
	defer agg.Release(out)
	require.Len(t, out, 2)
	require.EqualValues(t, agg.MaxEmitRows, out[0].NumRows())
	require.Zero(t, a.Groups())
	require.False(t, a.Full())
	for i, row := range pushdowntest.Rows(out...) {
		require.Equal(t, fmt.Sprintf("%d | %d", i, 2*i), pushdowntest.RowText(row))
	}
}

func TestBytesBound(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	schema := schemaOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String)
	a := newAggregator(t, groupSpec(schema, 1, pushdown.Max), schema, agg.Options{Alloc: mem, MaxBytes: 1 << 20})
	require.False(t, a.Full())
	text := string(make([]byte, 1<<20))
	batch := pushdowntest.Batch(mem, schema, []any{"a", text})
	defer batch.Release()
	require.NoError(t, a.Update(batch, nil))
	require.True(t, a.Full())
	require.Greater(t, a.Bytes(), int64(1<<20))
}

func TestDictionariesUnify(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	schema := schemaOf(dt)
	a := newAggregator(t, groupSpec(schema, 1, pushdown.CountStar), schema, agg.Options{Alloc: mem})
	for i := range 12 { // more dictionaries than mappings are kept
		col := pushdowntest.DictionaryArray(mem, dt, []any{n(1), n(0), nil, n(2)}, []any{fmt.Sprint("v", i%3), "shared", nil, "unused"})
		batch := array.NewRecordBatch(schema, []arrow.Array{col}, 4)
		require.NoError(t, a.Update(batch, nil))
		batch.Release()
		col.Release()
	}
	pushdowntest.RequireSameRows(t, [][]any{{"shared", n(12)}, {nil, n(24)}, {"v0", n(4)}, {"v1", n(4)}, {"v2", n(4)}}, emitted(t, a))
}

func TestErrorsNameTheAggregate(t *testing.T) {
	t.Parallel()
	huge, _ := new(big.Int).SetString("170141183460469231731687303715884105727", 10)
	hugeint := &arrow.Decimal128Type{Precision: 38}
	for _, c := range []struct {
		name string
		f    pushdown.AggFunc
		dt   arrow.DataType
		vals []any
		merg bool
	}{
		{"decimal sum", pushdown.Sum, hugeint, []any{huge, n(1)}, false},
		{"negative decimal sum", pushdown.Sum, hugeint, []any{new(big.Int).Neg(huge), new(big.Int).Neg(huge)}, false},
		{"merged sums", pushdown.Sum, hugeint, []any{huge, n(1)}, true},
		{"merged counts", pushdown.Count, arrow.PrimitiveTypes.Int64, []any{n(math.MaxInt64), n(1)}, true},
		{"negative count", pushdown.Count, arrow.PrimitiveTypes.Int64, []any{n(-1)}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			mem := checked(t)
			schema := schemaOf(c.dt)
			spec := groupSpec(schema, 0, c.f)
			a := newAggregator(t, spec, schema, agg.Options{Alloc: mem})
			fold := func(b arrow.RecordBatch) error { return a.Update(b, nil) }
			if c.merg {
				schema, fold = spec.OutputSchema(), a.Merge
			}
			var err error
			for _, v := range c.vals {
				batch := pushdowntest.Batch(mem, schema, []any{v})
				err = fold(batch)
				batch.Release()
			}
			require.Equal(t, status.OutOfRange, status.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, `aggregate "a0"`)
		})
	}
}

func TestForeignBatchesAreErrors(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	schema := schemaOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64)
	spec := groupSpec(schema, 1, pushdown.Sum)
	a := newAggregator(t, spec, schema, agg.Options{Alloc: mem})
	batch := pushdowntest.Batch(mem, schema, []any{"a", 1})
	defer batch.Release()
	require.ErrorContains(t, a.Merge(batch), `column "a0" of the partial rows has type int64`)
	narrow := pushdowntest.Batch(mem, schemaOf(arrow.BinaryTypes.String), []any{"a"})
	defer narrow.Release()
	require.ErrorContains(t, a.Update(narrow, nil), `column "c1" of the batch`)
	require.ErrorContains(t, a.Merge(narrow), "1 columns, expected 2")
}

func TestSpecsThatCannotBeAggregated(t *testing.T) {
	t.Parallel()
	list := arrow.ListOf(arrow.PrimitiveTypes.Int64)
	schema := schemaOf(list, arrow.BinaryTypes.String)
	for name, spec := range map[string]*pushdown.Spec{
		"nothing to aggregate":  {Table: "main.t"},
		"cannot be grouped":     groupSpec(schema, 1, pushdown.CountStar),
		`aggregate "a0": `:      groupSpec(schema, 0, pushdown.Min),
		`column "x" is not in`:  {Aggregates: []pushdown.Aggregate{{Name: "a", Func: pushdown.Count, Arg: pushdown.Column{Name: "x", DataType: list}}}},
		`column "c1" has type`:  {Aggregates: []pushdown.Aggregate{{Name: "a", Func: pushdown.Count, Arg: pushdown.Column{Name: "c1", DataType: list}}}},
		"has no argument":       {Aggregates: []pushdown.Aggregate{{Name: "a", Func: pushdown.Sum}}},
		"cannot be computed ov": groupSpec(schema, 1, pushdown.Sum),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "cannot be computed ov" {
				spec = groupSpec(schemaOf(arrow.BinaryTypes.String), 0, pushdown.Sum)
				spec.Aggregates[0].Arg = pushdown.Column{Name: "c1", DataType: arrow.BinaryTypes.String}
			}
			_, err := agg.New(spec, schema, agg.Options{})
			require.ErrorContains(t, err, name)
		})
	}
}

func TestPassThroughNeedsKeys(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	schema := schemaOf(arrow.PrimitiveTypes.Int64)
	batch := pushdowntest.Batch(mem, schema, []any{1})
	defer batch.Release()
	a := newAggregator(t, groupSpec(schema, 0, pushdown.Sum), schema, agg.Options{Alloc: mem})
	_, err := a.PassThrough(batch, nil)
	require.ErrorContains(t, err, "without group keys")
}

// COUNT(*) reads no column: only the number of rows counts.
func TestCountStarOverNoColumns(t *testing.T) {
	t.Parallel()
	schema := schemaOf()
	batch := array.NewRecordBatch(schema, nil, 20_000)
	defer batch.Release()
	a := newAggregator(t, groupSpec(schema, 0, pushdown.CountStar), schema, agg.Options{Alloc: checked(t)})
	require.NoError(t, a.Update(batch, nil))
	require.NoError(t, a.Update(batch, []int32{3, 7, 19_999}))
	require.Equal(t, "20003", pushdowntest.Text(emitted(t, a)[0][0]))
}
