package pushdown

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

var (
	dimKey  = Column{Name: "d.key", DataType: arrow.PrimitiveTypes.Int64}
	dimName = Column{Name: "d.name", DataType: arrow.BinaryTypes.String}
)

func relationOf(t *testing.T, keys ...int64) *Relation {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dimKey.DataType}, {Name: "y", Type: dimName.DataType}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, k := range keys {
		b.Field(0).(*array.Int64Builder).Append(k)
		b.Field(1).(*array.StringBuilder).Append("name")
	}
	r, err := NewRelation(b.NewRecordBatch())
	require.NoError(t, err)
	return r
}

func lookedUp(r *Relation) Spec {
	s := base()
	s.Lookups = []Lookup{{Keys: []Expr{i64}, Columns: []Column{dimKey, dimName}, On: []int{0}, Relation: r}}
	s.Filter = []Expr{cmpr(NotEqual, i64, dimKey), flag}
	s.GroupBy = []NamedExpr{{"name", dimName}}
	s.Aggregates = []Aggregate{{Name: "s", Func: Sum, Arg: f64}}
	return s
}

func TestLookups(t *testing.T) {
	t.Parallel()
	s := lookedUp(relationOf(t, 1, 2))
	require.NoError(t, s.Validate(tableSchema()))
	require.Equal(t, []Column{f64, flag, i64}, s.InputColumns())
	require.Equal(t, `scan "main.t" ["0", "1"] where (i64 <> "d.key") and flag lookup (i64 = "d.key") in 2 rows columns ("d.key", "d.name") group by (name = "d.name") aggregate (s = sum(f64))`, s.String())
	other, same, none := lookedUp(relationOf(t, 1, 3)), lookedUp(relationOf(t, 1, 2)), lookedUp(nil)
	require.NotEqual(t, s.Hash(), other.Hash())
	require.NotEqual(t, s.Hash(), none.Hash())
	require.Equal(t, s.Hash(), same.Hash())

	whole := Split(s, AllCapabilities())
	require.Nil(t, whole.Residual)
	rest := Split(s, AllCapabilities().Without("lookup"))
	require.Equal(t, `scan "main.t" ["0", "1"] columns (f64, i64) where flag`, rest.Remote.String())
	require.Equal(t, []Expr{s.Filter[0]}, rest.Residual.Filter)
	require.Equal(t, s.Lookups, rest.Residual.Lookups)
	require.NoError(t, rest.Residual.Validate(rest.Remote.OutputSchema()))
	require.Contains(t, rest.Reasons, "the lookup stays: the source lacks lookup")
}

func TestBadLookups(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *Spec){
		"a row scan":     func(s *Spec) { s.GroupBy, s.Aggregates, s.Columns, s.Filter = nil, nil, []Column{i64}, nil },
		"no key":         func(s *Spec) { s.Lookups[0].Keys, s.Lookups[0].On = nil, nil },
		"a missing side": func(s *Spec) { s.Lookups[0].On = []int{7} },
		"another type":   func(s *Spec) { s.Lookups[0].On = []int{1} },
		"a float": func(s *Spec) {
			s.Lookups[0] = Lookup{Keys: []Expr{f64}, Columns: []Column{{Name: "d.key", DataType: f64.DataType}, dimName}, On: []int{0}}
		},
		"a name of the table": func(s *Spec) { s.Lookups[0].Columns[1].Name = "i64" },
		"a dictionary": func(s *Spec) {
			s.Lookups[0].Columns[1].DataType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: dimName.DataType}
		},
		"other rows": func(s *Spec) { s.Lookups[0].Columns = s.Lookups[0].Columns[:1]; s.GroupBy, s.Filter = nil, nil },
		"a key fails": func(s *Spec) {
			s.Lookups[0].Keys = []Expr{Arith{Op: Add, Left: i64, Right: i64, DataType: i64.DataType}}
		},
		"later columns": func(s *Spec) { s.Lookups[0].Keys = []Expr{dimKey} },
	} {
		s := lookedUp(relationOf(t, 1))
		change(&s)
		require.Equal(t, status.InvalidArgument, status.CodeOf(s.Validate(tableSchema())), name)
	}
}

func TestRelationsAreSmall(t *testing.T) {
	t.Parallel()
	for _, b := range []arrow.Array{
		array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, MaxRelationRows+1),
		long(t, MaxRelationBytes),
	} {
		rows := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "a", Type: b.DataType(), Nullable: true}}, nil), []arrow.Array{b}, int64(b.Len()))
		_, err := NewRelation(rows)
		require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	}
}

func long(t *testing.T, n int) arrow.Array {
	t.Helper()
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer b.Release()
	b.Append(make([]byte, n))
	return b.NewArray()
}
