package run

import (
	"math/big"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
)

// reducedSpec draws groups with a reduction over their columns.
func reducedSpec(t *rapid.T, schema *arrow.Schema) pushdown.Spec {
	spec := pushdowntest.Spec(t, schema)
	if len(spec.GroupBy) == 0 || slices.ContainsFunc(spec.GroupBy, func(k pushdown.NamedExpr) bool { return !pushdown.Infallible(k.Expr) }) {
		t.Skip("not groups")
	}
	out := spec.OutputSchema()
	r := &pushdown.Reduction{Limit: pushdown.NoLimit}
	if rapid.Bool().Draw(t, "apart") {
		r.Apart = spec.GroupBy[0].Name
	}
	if rapid.Bool().Draw(t, "having") {
		r.Filter = []pushdown.Expr{pushdowntest.Predicate(t, out, 1)}
	}
	if rapid.Bool().Draw(t, "limited") || len(r.Filter) == 0 {
		r.Limit = int64(rapid.IntRange(0, 6).Draw(t, "groups"))
		for _, f := range out.Fields()[:rapid.IntRange(0, out.NumFields()).Draw(t, "sort keys")] {
			r.OrderBy = append(r.OrderBy, pushdown.SortKey{Column: pushdown.Column{Name: f.Name, DataType: f.Type}, Descending: rapid.Bool().Draw(t, "desc")})
		}
	}
	spec.Reduce = r
	return spec
}

// rowsOf runs a spec to its end.
func rowsOf(t require.TestingT, spec pushdown.Spec, schema *arrow.Schema, opts Options, batches []arrow.RecordBatch) ([][]any, error) {
	r, err := New(spec, schema, opts)
	require.NoError(t, err)
	defer r.Release()
	var out []arrow.RecordBatch
	defer func() { pushdowntest.ReleaseAll(out) }()
	for _, b := range batches {
		ready, err := r.Push(b)
		if err != nil {
			return nil, err
		}
		out = append(out, ready...)
	}
	last, err := r.Finish()
	out = append(out, last...)
	return pushdowntest.Rows(out...), err
}

// TestReduction: of whole groups exactly those are kept that the conditions
// keep, and those set apart; groups that were not whole are all kept.
func TestReduction(t *testing.T) {
	t.Parallel()
	reduced := 0
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, mem, schema, 12)
		defer pushdowntest.ReleaseAll(batches)
		spec := reducedSpec(t, schema)
		all, err := rowsOf(t, spec.Unreduced(), schema, Options{Alloc: mem, Hold: true}, batches)
		if err != nil {
			t.Skip("the groups overflow")
		}
		got, err := rowsOf(t, spec, schema, Options{Alloc: mem}, batches)
		require.NoError(t, err)
		apart := func(row []any) bool { return spec.Reduce.Apart != "" && row[0] == nil }
		whole := slices.DeleteFunc(slices.Clone(all), apart)
		reducer := spec.Reducer()
		in := pushdowntest.Batch(mem, spec.OutputSchema(), whole...)
		defer in.Release()
		want, err := pushdowntest.Reference(reducer, in)
		require.NoError(t, err)
		if reducer.Limit != pushdown.NoLimit && len(want) > int(reducer.Limit) {
			want = want[:reducer.Limit] // the reference of a bare limit is all rows
		}
		require.Len(t, got, len(want)+len(all)-len(whole))
		reduced += len(all) - len(got)
		kept := slices.DeleteFunc(slices.Clone(got), apart)
		if reducer.Limit == pushdown.NoLimit || len(reducer.OrderBy) == len(reducer.Columns) {
			pushdowntest.RequireSameRows(t, want, kept)
		}
	})
	require.Positive(t, reduced)
}

var reduceSchema = arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)

func firstGroup(apart string) pushdown.Spec {
	k := pushdown.Column{Name: "k", DataType: arrow.PrimitiveTypes.Int64}
	return pushdown.Spec{
		Table: "t", Partitions: []string{"0"}, Limit: pushdown.NoLimit, GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: k}},
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}},
		Reduce: &pushdown.Reduction{Apart: apart, Limit: 1, OrderBy: []pushdown.SortKey{
			{Column: pushdown.Column{Name: "n", DataType: arrow.PrimitiveTypes.Int64}, Descending: true},
		}},
	}
}

// TestPartialGroupsAreNotReduced: a group that was emitted early, or that may be
// elsewhere too, could be any.
func TestPartialGroupsAreNotReduced(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	many := pushdowntest.Batch(mem, reduceSchema, []any{big.NewInt(1)}, []any{big.NewInt(2)}, []any{big.NewInt(2)}, []any{nil})
	defer many.Release()
	batches := []arrow.RecordBatch{many, many}
	for name, c := range map[string]struct {
		spec pushdown.Spec
		opts Options
		want int
	}{
		"whole": {firstGroup(""), Options{Alloc: mem}, 1}, "apart": {firstGroup("k"), Options{Alloc: mem}, 2},
		"emitted early": {firstGroup(""), Options{Alloc: mem, MaxGroups: 2}, 6},
		"does not pay":  {firstGroup(""), Options{Alloc: mem, ProbeRows: 1}, 1},
	} {
		got, err := rowsOf(t, c.spec, reduceSchema, c.opts, batches)
		require.NoError(t, err, name)
		require.Len(t, got, c.want, name)
	}
	r, err := New(firstGroup(""), reduceSchema, Options{Alloc: mem})
	require.NoError(t, err)
	defer r.Release()
	_, err = r.Push(many)
	require.NoError(t, err)
	r.Partial()
	out, err := r.Finish()
	require.NoError(t, err)
	require.Len(t, pushdowntest.Rows(out...), 3)
	pushdowntest.ReleaseAll(out)
}
