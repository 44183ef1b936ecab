package catalog

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func schemaOf(fields ...arrow.Field) *arrow.Schema { return arrow.NewSchema(fields, nil) }

func field(name string, t arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: t} }

var (
	idCol   = field("id", arrow.PrimitiveTypes.Int64)
	nameCol = field("name", arrow.BinaryTypes.String)
)

func table(name string, s *arrow.Schema, parts ...codec.Partition) codec.Table {
	return codec.Table{Schema: "main", Name: name, Arrow: s, Partitions: parts}
}

func part(id string, rows int64) codec.Partition {
	return codec.Partition{ID: id, Rows: rows, Bytes: -1}
}

func seen(name, addr string, tables ...codec.Table) view {
	return view{addr: addr, hello: &codec.Hello{Name: name, Epoch: "epoch of " + addr, Tables: tables}}
}

func TestMergeUnionsPartitions(t *testing.T) {
	t.Parallel()
	s := schemaOf(idCol, nameCol)
	down := seen("b", "b:1", table("t", schemaOf(nameCol, idCol), part("2", 20), part("1", 10)))
	down.err = status.New(status.Unavailable, "gone")
	snap := merge([]view{seen("a", "a:1", table("t", s, part("1", 10), part("0", 5))), down, seen("c", "c:1", table("u", s))})

	require.True(t, snap.Ready())
	require.NoError(t, snap.Usable())
	require.Len(t, snap.Scanners, 3)
	got := snap.Tables["main.t"]
	require.NoError(t, got.Err)
	require.True(t, got.Arrow.Equal(s), "the order of the first owner")
	require.Len(t, got.Partitions, 3)
	for i, want := range []struct {
		id     string
		rows   int64
		owners []string
	}{{"0", 5, []string{"a"}}, {"1", 10, []string{"a", "b"}}, {"2", 20, []string{"b"}}} {
		p := got.Partitions[i]
		require.Equal(t, want.id, p.ID)
		require.Equal(t, want.rows, p.Rows)
		var owners []string
		for _, o := range p.Owners {
			owners = append(owners, o.Name)
		}
		require.Equal(t, want.owners, owners)
	}

	require.NoError(t, got.Partitions[1].Owners[0].Err)
	require.Error(t, got.Partitions[2].Owners[0].Err, "its partitions stay, but cannot be read")
	require.Empty(t, snap.Tables["main.u"].Partitions)
}

func TestMergeRefusesConflicts(t *testing.T) {
	t.Parallel()
	s := schemaOf(idCol, nameCol)
	for _, tc := range []struct {
		name  string
		views []view
		want  []string
	}{
		{
			"types differ",
			[]view{seen("a", "a:1", table("t", s, part("0", 1))), seen("b", "b:1", table("t", schemaOf(field("id", arrow.BinaryTypes.String), nameCol), part("7", 1)))},
			[]string{"main.t", `"id"`, `"b"`, "partitions 7", "utf8", `"a"`, "partitions 0", "int64"},
		},
		{
			"columns differ in case between scanners",
			[]view{seen("a", "a:1", table("t", s)), seen("b", "b:1", table("t", schemaOf(field("Name", arrow.BinaryTypes.String))))},
			[]string{`"name"`, `"Name"`, `"a"`, `"b"`, "only in case"},
		},
		{
			"the scanner says so",
			[]view{seen("a", "a:1", table("t", s)), seen("b", "b:1", codec.Table{Schema: "main", Name: "t", Err: "file is broken"})},
			[]string{`"b"`, "file is broken"},
		},
		{
			"names differ in case",
			[]view{seen("a", "a:1", table("t", s)), seen("b", "b:1", table("T", s))},
			[]string{"main.t", "main.T", "only in case"},
		},
		{
			"columns differ in case",
			[]view{seen("a", "a:1", table("t", schemaOf(idCol, field("ID", arrow.PrimitiveTypes.Int64))))},
			[]string{`"id"`, `"ID"`},
		},
		{
			"no columns",
			[]view{seen("a", "a:1", table("t", nil))},
			[]string{"main.t", "no columns"},
		},
		{
			"a partition twice",
			[]view{seen("a", "a:1", table("t", s, part("0", 1), part("0", 1)))},
			[]string{`"0"`, "twice"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			snap := merge(tc.views)
			require.Len(t, snap.Tables, 1)
			got := snap.Tables["main.t"]
			require.Equal(t, status.FailedPrecondition, status.CodeOf(got.Err))
			for _, want := range tc.want {
				require.ErrorContains(t, got.Err, want)
			}
		})
	}
}

// TestMergeWidens: the table has the columns of all scanners, of types that hold
// the values of all, and statistics of these types.
func TestMergeWidens(t *testing.T) {
	t.Parallel()
	small := schemaOf(field("id", arrow.PrimitiveTypes.Int8), nameCol)
	large := schemaOf(idCol, field("day", arrow.FixedWidthTypes.Date32))
	p, q := part("0", 4), part("1", 3)
	p.Columns = map[string]codec.ColumnStats{"id": {Min: scalar.NewInt8Scalar(-1), Max: scalar.NewInt8Scalar(7), Nulls: 1, Exact: true}}
	q.Columns = map[string]codec.ColumnStats{"id": between(1, 2)}
	a, b := table("t", small, p), table("t", large, q, part("2", -1))
	a.Version, b.Version, a.SchemaVersion = "v1", "v2", "s1"
	got := merge([]view{seen("a", "a:1", a), seen("b", "b:1", b)}).Tables["main.t"]
	require.NoError(t, got.Err)
	require.Equal(t, schemaOf(idCol, nameCol, field("day", arrow.FixedWidthTypes.Date32)).String(), got.Arrow.String())
	require.Equal(t, OwnSchema{Arrow: small, Version: "s1"}, got.Schemas["a"])
	nulls := func(n int64) codec.ColumnStats { return codec.ColumnStats{Nulls: n} }
	lower := between(-1, 7)
	lower.Nulls = 1
	require.Equal(t, map[string]codec.ColumnStats{"id": lower, "day": nulls(4)}, got.Partitions[0].Columns)
	require.Equal(t, map[string]codec.ColumnStats{"id": between(1, 2), "name": nulls(3)}, got.Partitions[1].Columns)
	require.Nil(t, got.Partitions[2].Columns, "nobody knows how many NULLs there are")
	column := func(f arrow.Field) []pushdown.Column {
		return []pushdown.Column{{Name: f.Name, DataType: f.Type}}
	}
	require.True(t, got.Narrow("a", column(idCol)))
	require.True(t, got.Narrow("b", column(nameCol)))
	require.False(t, got.Narrow("b", column(idCol)))
	require.False(t, got.Narrow("nobody", column(idCol)))
}

// TestMergeUUIDs: a column is one of UUIDs when all scanners say so.
func TestMergeUUIDs(t *testing.T) {
	t.Parallel()
	marked := schemaOf(idCol, pushdown.MarkUUID(nameCol))
	for _, c := range []struct {
		a, b *arrow.Schema
		want bool
	}{
		{marked, marked, true}, {marked, schemaOf(idCol), true}, {schemaOf(idCol), marked, true},
		{marked, schemaOf(nameCol), false}, {schemaOf(nameCol), marked, false},
	} {
		got := merge([]view{seen("a", "a:1", table("t", c.a, part("0", 1))), seen("b", "b:1", table("t", c.b, part("1", 1)))}).Tables["main.t"]
		require.NoError(t, got.Err)
		f, ok := got.Arrow.FieldsByName("name")
		require.True(t, ok)
		require.Equal(t, c.want, pushdown.IsUUID(f[0]), "%s and %s", c.a, c.b)
	}
	require.True(t, pushdown.IsUUID(marked.Field(1)), "the scanner's own schema is not changed")
}

func TestMergeDuplicateNames(t *testing.T) {
	t.Parallel()
	s := schemaOf(idCol)
	first, second := seen("a", "a:1", table("t", s, part("0", 1))), seen("a", "b:1", table("t", s, part("1", 1)))
	snap := merge([]view{first, second})
	require.Len(t, snap.Scanners, 2)
	require.Equal(t, "a:1", snap.Scanners["a"].Addr)
	require.ErrorContains(t, snap.Scanners["b:1"].Err, `has the name "a"`)
	require.Len(t, snap.Tables["main.t"].Partitions, 1)
	require.False(t, snap.Ready(), "the second one's partitions are missing")
	require.ErrorContains(t, snap.Usable(), "b:1")

	// One process behind two addresses misses nothing.
	second.hello.Epoch = first.hello.Epoch
	snap = merge([]view{first, second})
	require.True(t, snap.Ready())
	require.ErrorContains(t, snap.Scanners["b:1"].Err, "configure it once")
}

func TestMergeNeverSeen(t *testing.T) {
	t.Parallel()
	never := view{addr: "z:9", err: status.New(status.Unavailable, "connection refused")}
	// A scanner may be called like another's address.
	snap := merge([]view{never, seen("z:9", "a:1")})
	require.Len(t, snap.Scanners, 2)
	require.NoError(t, snap.Scanners["z:9"].Err)
	require.Equal(t, []*Scanner{snap.Scanners["@z:9"]}, snap.Missing)
	err := snap.Usable()
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.ErrorContains(t, err, "z:9 (connection refused)")
}

func TestMergeReplicasDisagree(t *testing.T) {
	t.Parallel()
	s := schemaOf(idCol)
	rows := func(a, b int64) int64 {
		snap := merge([]view{seen("a", "a:1", table("t", s, part("0", a))), seen("b", "b:1", table("t", s, part("0", b)))})
		return snap.Tables["main.t"].Partitions[0].Rows
	}
	require.EqualValues(t, 3, rows(3, 3))
	require.EqualValues(t, 3, rows(-1, 3))
	require.EqualValues(t, 3, rows(3, -1))
	require.EqualValues(t, -1, rows(3, 4))
}
