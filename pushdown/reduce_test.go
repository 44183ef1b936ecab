package pushdown

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func reducedGroups() (Spec, *arrow.Schema) {
	k := Column{Name: "k", DataType: arrow.PrimitiveTypes.Int64}
	n := Column{Name: "n", DataType: arrow.PrimitiveTypes.Int64}
	spec := Spec{
		Table: "t", Partitions: []string{"0"}, Limit: NoLimit, GroupBy: []NamedExpr{{Name: "k", Expr: k}},
		Aggregates: []Aggregate{{Name: "n", Func: CountStar}},
		Reduce:     &Reduction{Apart: "k", Filter: []Expr{IsNull{Arg: n, Negated: true}}, OrderBy: []SortKey{{Column: n, Descending: true}}, Limit: 3},
	}
	return spec, arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
}

func TestReductionIsValidated(t *testing.T) {
	t.Parallel()
	spec, schema := reducedGroups()
	require.NoError(t, spec.Validate(schema))
	require.Equal(t, "scan t [\"0\"] group by (k) aggregate (n = count(*)) reduce apart k having n is not null order by n desc limit 3", spec.String())
	for want, change := range map[string]func(r *Reduction, s *Spec){
		"only groups":     func(_ *Reduction, s *Spec) { s.GroupBy = nil },
		"is empty":        func(r *Reduction, _ *Spec) { r.Filter, r.OrderBy, r.Limit = nil, nil, NoLimit },
		"no group key":    func(r *Reduction, _ *Spec) { r.Apart = "n" },
		"needs a limit":   func(r *Reduction, _ *Spec) { r.Limit = NoLimit },
		"no column \"x\"": func(r *Reduction, _ *Spec) { r.OrderBy[0].Column.Name = "x" },
		"negative":        func(r *Reduction, _ *Spec) { r.Limit = -2 },
	} {
		bad, _ := reducedGroups()
		change(bad.Reduce, &bad)
		err := bad.Validate(schema)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), want)
		require.ErrorContains(t, err, want)
	}
}

// TestReductionIsLeftOut: a source without the capability sends all groups, and
// nothing is left to do but what merging them does anyway.
func TestReductionIsLeftOut(t *testing.T) {
	t.Parallel()
	spec, _ := reducedGroups()
	require.Contains(t, spec.Required(), CapReduce)
	all := Split(spec, AllCapabilities())
	require.NotNil(t, all.Remote.Reduce)
	require.Nil(t, all.Residual)
	less := Split(spec, AllCapabilities().Without("reduce"))
	require.Equal(t, spec.Unreduced(), less.Remote)
	require.Nil(t, less.Residual)
	rows := Split(spec, AllCapabilities().Without("agg"))
	require.Nil(t, rows.Remote.Reduce)
	require.Equal(t, spec.Reduce, rows.Residual.Reduce)
	require.NotEqual(t, spec.Hash(), less.Remote.Hash())
}
