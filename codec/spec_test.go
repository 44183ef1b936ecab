package codec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func TestTypesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, dt := range everyType() {
		p, err := typeToProto(dt)
		require.NoError(t, err, "%s", dt)
		got, err := typeFromProto(p)
		require.NoError(t, err, "%s", dt)
		require.True(t, arrow.TypeEqual(dt, got), "%s became %s", dt, got)
		require.Equal(t, dt.Fingerprint(), got.Fingerprint())
	}
}

func TestTypesThatAreNotCarried(t *testing.T) {
	t.Parallel()
	for _, dt := range []arrow.DataType{
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
		arrow.BinaryTypes.StringView,
		arrow.ListOf(arrow.BinaryTypes.BinaryView),
		arrow.SparseUnionOf(nil, nil),
	} {
		_, err := typeToProto(dt)
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%s", dt)
	}
	_, err := typeToProto(nil)
	require.Equal(t, status.InvalidArgument, status.CodeOf(err))
}

func TestBadTypes(t *testing.T) {
	t.Parallel()
	simple := &pb.Field{Type: &pb.DataType{Kind: pb.Kind_KIND_INT8}}
	deep := &pb.DataType{Kind: pb.Kind_KIND_INT8}
	for range maxTypeDepth + 1 {
		deep = &pb.DataType{Kind: pb.Kind_KIND_LIST, Children: []*pb.Field{{Type: deep}}}
	}
	for name, p := range map[string]*pb.DataType{
		"nil":             nil,
		"zero":            {},
		"unknown kind":    {Kind: 9999},
		"no unit":         {Kind: pb.Kind_KIND_TIMESTAMP},
		"unknown unit":    {Kind: pb.Kind_KIND_DURATION, Unit: 9},
		"time32 in us":    {Kind: pb.Kind_KIND_TIME32, Unit: pb.TimeUnit_TIME_UNIT_MICRO},
		"time64 in s":     {Kind: pb.Kind_KIND_TIME64, Unit: pb.TimeUnit_TIME_UNIT_SECOND},
		"precision":       {Kind: pb.Kind_KIND_DECIMAL128, Precision: 39},
		"no precision":    {Kind: pb.Kind_KIND_DECIMAL256},
		"negative width":  {Kind: pb.Kind_KIND_FIXED_SIZE_BINARY, Width: -1},
		"list of nothing": {Kind: pb.Kind_KIND_LIST},
		"list of two":     {Kind: pb.Kind_KIND_LARGE_LIST, Children: []*pb.Field{simple, simple}},
		"list of zero":    {Kind: pb.Kind_KIND_FIXED_SIZE_LIST, Children: []*pb.Field{simple}},
		"empty field":     {Kind: pb.Kind_KIND_STRUCT, Children: []*pb.Field{{}}},
		"nullable key":    {Kind: pb.Kind_KIND_MAP, Children: []*pb.Field{{Type: simple.Type, Nullable: true}, simple}},
		"half a map":      {Kind: pb.Kind_KIND_MAP, Children: []*pb.Field{simple}},
		"float index": {Kind: pb.Kind_KIND_DICTIONARY, Children: []*pb.Field{
			{Type: &pb.DataType{Kind: pb.Kind_KIND_FLOAT32}}, simple,
		}},
		"too deep": deep,
	} {
		_, err := typeFromProto(p)
		require.Error(t, err, name)
		require.Contains(t, []status.Code{status.InvalidArgument, status.Unimplemented}, status.CodeOf(err), name)
	}
}

func TestLiteralsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, v := range everyLiteral() {
		p, err := literalToProto(v)
		require.NoError(t, err, "%s", v)
		got, err := literalFromProto(p)
		require.NoError(t, err, "%s", v)
		require.True(t, scalar.Equals(v, got), "%s became %s", v, got)
		require.Equal(t, v.IsValid(), got.IsValid())
	}
}

func TestBadLiterals(t *testing.T) {
	t.Parallel()
	kind := func(k pb.Kind) *pb.DataType { return &pb.DataType{Kind: k, Precision: 5, Width: 2} }
	for name, p := range map[string]*pb.Literal{
		"no type":        {},
		"int8 overflow":  {Type: kind(pb.Kind_KIND_INT8), Value: &pb.Literal_IntValue{IntValue: 128}},
		"int32 overflow": {Type: kind(pb.Kind_KIND_INT32), Value: &pb.Literal_IntValue{IntValue: 1 << 40}},
		"date overflow":  {Type: kind(pb.Kind_KIND_DATE32), Value: &pb.Literal_IntValue{IntValue: 1 << 40}},
		"uint overflow":  {Type: kind(pb.Kind_KIND_UINT16), Value: &pb.Literal_UintValue{UintValue: 1 << 16}},
		"string as int":  {Type: kind(pb.Kind_KIND_STRING), Value: &pb.Literal_IntValue{}},
		"int as bool":    {Type: kind(pb.Kind_KIND_INT8), Value: &pb.Literal_BoolValue{}},
		"int as double":  {Type: kind(pb.Kind_KIND_INT8), Value: &pb.Literal_DoubleValue{}},
		"short decimal":  {Type: kind(pb.Kind_KIND_DECIMAL128), Value: &pb.Literal_BytesValue{BytesValue: make([]byte, 15)}},
		"float as bytes": {Type: kind(pb.Kind_KIND_FLOAT64), Value: &pb.Literal_BytesValue{BytesValue: make([]byte, 8)}},
		"fixed width":    {Type: kind(pb.Kind_KIND_FIXED_SIZE_BINARY), Value: &pb.Literal_BytesValue{BytesValue: make([]byte, 3)}},
		"decimal32":      {Type: kind(pb.Kind_KIND_DECIMAL32)},
		"struct":         {Type: kind(pb.Kind_KIND_STRUCT)},
	} {
		_, err := literalFromProto(p)
		require.Error(t, err, name)
		require.Contains(t, []status.Code{status.InvalidArgument, status.Unimplemented}, status.CodeOf(err), name)
	}
	_, err := literalToProto(scalar.NewListScalar(array.MakeArrayOfNull(scratch(), arrow.PrimitiveTypes.Int8, 1)))
	require.Equal(t, status.Unimplemented, status.CodeOf(err))
}

func TestSpecsRoundTrip(t *testing.T) {
	t.Parallel()
	for i, spec := range everySpec() {
		p, err := SpecToProto(spec)
		require.NoError(t, err)
		data, err := proto.Marshal(p)
		require.NoError(t, err)
		var again pb.Spec
		require.NoError(t, proto.Unmarshal(data, &again))
		got, err := SpecFromProto(&again)
		require.NoError(t, err)
		require.Equal(t, spec.String(), got.String())
		require.Equal(t, spec.Hash(), got.Hash())
		for j := range spec.Lookups { // memory differs
			if r := spec.Lookups[j].Relation; r != nil {
				require.True(t, array.RecordEqual(r.Rows(), got.Lookups[j].Relation.Rows()))
			}
			spec.Lookups[j].Relation, got.Lookups[j].Relation = nil, nil
		}
		require.True(t, reflect.DeepEqual(spec, got), "spec %d", i)
	}
}

// TestEveryFieldIsFilled fails when a message has a field or an enum a value
// that the specs above do not set: whoever adds one must convert it too.
func TestEveryFieldIsFilled(t *testing.T) {
	t.Parallel()
	seen := map[protoreflect.FullName]bool{}
	for _, spec := range append(everySpec(), callSpec()) {
		p, err := SpecToProto(spec)
		require.NoError(t, err)
		visit(p.ProtoReflect(), seen)
	}
	file := pb.File_tributary_v1_spec_proto
	requireSeen(t, file.Messages(), seen)
	for i := range file.Enums().Len() {
		requireValues(t, file.Enums().Get(i), seen)
	}
}

func requireSeen(t *testing.T, messages protoreflect.MessageDescriptors, seen map[protoreflect.FullName]bool) {
	t.Helper()
	for i := range messages.Len() {
		m := messages.Get(i)
		for j := range m.Fields().Len() {
			require.True(t, seen[m.Fields().Get(j).FullName()], "%s is never set", m.Fields().Get(j).FullName())
		}
		for j := range m.Enums().Len() {
			requireValues(t, m.Enums().Get(j), seen)
		}
		requireSeen(t, m.Messages(), seen)
	}
}

func requireValues(t *testing.T, e protoreflect.EnumDescriptor, seen map[protoreflect.FullName]bool) {
	t.Helper()
	for i := 1; i < e.Values().Len(); i++ {
		require.True(t, seen[e.Values().Get(i).FullName()], "%s is never used", e.Values().Get(i).FullName())
	}
}

// visit notes every populated field and every enum value below m.
func visit(m protoreflect.Message, seen map[protoreflect.FullName]bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		seen[f.FullName()] = true
		switch {
		case f.Enum() != nil:
			if d := f.Enum().Values().ByNumber(v.Enum()); d != nil {
				seen[d.FullName()] = true
			}
		case f.Message() != nil && f.IsList():
			for i := range v.List().Len() {
				visit(v.List().Get(i).Message(), seen)
			}
		case f.Message() != nil:
			visit(v.Message(), seen)
		}
		return true
	})
}

func TestIncompleteSpecsAreErrors(t *testing.T) {
	t.Parallel()
	a := col("a", arrow.PrimitiveTypes.Int64)
	for i, e := range []pushdown.Expr{
		nil, pushdown.Column{Name: "x"}, pushdown.Literal{}, pushdown.Not{}, pushdown.IsNull{}, pushdown.In{},
		pushdown.Compare{Left: a}, pushdown.And{Args: []pushdown.Expr{nil}}, pushdown.Or{Args: []pushdown.Expr{a, nil}},
		pushdown.Like{}, pushdown.Arith{Left: a, Right: a}, pushdown.Arith{Left: a}, pushdown.Cast{Arg: a}, pushdown.Cast{},
		pushdown.Case{}, pushdown.Case{Whens: []pushdown.When{{Cond: a}}, DataType: a.DataType},
		pushdown.Coalesce{Args: []pushdown.Expr{a}}, pushdown.Coalesce{Args: []pushdown.Expr{nil}},
		pushdown.In{Arg: a, Values: []pushdown.Literal{{}}},
	} {
		for _, spec := range []pushdown.Spec{
			{Filter: []pushdown.Expr{e}},
			{GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: e}}},
			{Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.Min, Arg: pushdown.Not{Arg: e}}}},
			{Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.Min, Filter: pushdown.Not{Arg: e}}}},
		} {
			_, err := SpecToProto(spec)
			require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%d: %v", i, e)
		}
	}
}

func TestUnknownMembersAreErrors(t *testing.T) {
	t.Parallel()
	column := &pb.Expr{Expr: &pb.Expr_Column{Column: &pb.Column{Name: "a", Type: &pb.DataType{Kind: pb.Kind_KIND_INT64}}}}
	for name, e := range map[string]*pb.Expr{
		"missing":     nil,
		"unknown":     {},
		"no operator": {Expr: &pb.Expr_Compare{Compare: &pb.Compare{Left: column, Right: column}}},
		"operator":    {Expr: &pb.Expr_Compare{Compare: &pb.Compare{Op: 99, Left: column, Right: column}}},
		"no right":    {Expr: &pb.Expr_Compare{Compare: &pb.Compare{Op: 1, Left: column}}},
		"like":        {Expr: &pb.Expr_Like{Like: &pb.Like{Kind: 99, Arg: column}}},
		"arith":       {Expr: &pb.Expr_Arith{Arith: &pb.Arith{Op: -1, Left: column, Right: column}}},
		"empty not":   {Expr: &pb.Expr_Not{}},
		"empty and":   {Expr: &pb.Expr_And{And: &pb.ExprList{Args: []*pb.Expr{{}}}}},
		"cast":        {Expr: &pb.Expr_Cast{Cast: &pb.Cast{Arg: column}}},
		"case":        {Expr: &pb.Expr_Case{Case: &pb.Case{Whens: []*pb.Case_When{{}}, Type: &pb.DataType{Kind: 1}}}},
		"coalesce":    {Expr: &pb.Expr_Coalesce{Coalesce: &pb.Coalesce{Args: []*pb.Expr{column}}}},
		"in":          {Expr: &pb.Expr_In{In: &pb.In{Arg: column, Values: [][]byte{{}}}}},
	} {
		for i, spec := range []*pb.Spec{
			{Filter: []*pb.Expr{e}},
			{GroupBy: []*pb.NamedExpr{{Name: "k", Expr: e}}},
			{Aggregates: []*pb.Aggregate{{Name: "n", Func: pb.Aggregate_FUNC_MIN, Filter: &pb.Expr{Expr: &pb.Expr_Not{Not: e}}}}},
		} {
			_, err := SpecFromProto(spec)
			require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%s in place %d: %v", name, i, err)
		}
	}
	for _, spec := range []*pb.Spec{
		nil,
		{Aggregates: []*pb.Aggregate{{Func: 99}}},
		{Columns: []*pb.Column{{Name: "c"}}},
		{OrderBy: []*pb.SortKey{{}}},
	} {
		_, err := SpecFromProto(spec)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%v", spec)
	}
}

func TestDeepExpressionIsAnError(t *testing.T) {
	t.Parallel()
	for depth, ok := range map[int]bool{maxExprDepth: true, maxExprDepth + 1: false, 9000: false} {
		e, err := exprToProto(everyExpr()[0])
		require.NoError(t, err)
		for range depth {
			e = &pb.Expr{Expr: &pb.Expr_Not{Not: e}}
		}
		_, err = SpecFromProto(&pb.Spec{Filter: []*pb.Expr{e}})
		require.Equal(t, ok, err == nil, fmt.Sprint(depth))
	}
}
