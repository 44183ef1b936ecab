package memory_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/scanner/sourcetest"
)

func TestSource(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourcetest.Harness{
		Make: func(t *rapid.T, schema *arrow.Schema, partitions [][]arrow.RecordBatch) (scanner.Source, func()) {
			var parts []memory.Partition
			for i, batches := range partitions {
				parts = append(parts, memory.Partition{ID: fmt.Sprint(i), Batches: batches})
			}
			s, err := memory.New(schema, parts)
			if err != nil {
				t.Fatalf("%v", err)
			}
			return s, s.Release
		},
	})
}

var (
	schema = arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}}, nil)
	column = pushdown.Column{Name: "i", DataType: arrow.PrimitiveTypes.Int64}
)

func batch(mem arrowmem.Allocator, values ...int) arrow.RecordBatch {
	rows := make([][]any, len(values))
	for i, v := range values {
		rows[i] = []any{v}
	}
	return pushdowntest.Batch(mem, schema, rows...)
}

func spec(ids ...string) pushdown.Spec {
	return pushdown.Spec{Table: "t", Partitions: ids, Columns: []pushdown.Column{column}, Limit: pushdown.NoLimit}
}

func count(t *testing.T, r scanner.Reader) int64 {
	t.Helper()
	n := int64(0)
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return n
		}
		require.NoError(t, err)
		n += b.NumRows()
		b.Release()
	}
}

func TestScansKeepTheirRows(t *testing.T) {
	t.Parallel()
	mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	first, second := batch(mem, 1, 2), batch(mem, 3)
	s, err := memory.New(schema, []memory.Partition{{ID: "a", Batches: []arrow.RecordBatch{first}}})
	require.NoError(t, err)
	first.Release()
	r, err := s.Scan(t.Context(), spec("a"))
	require.NoError(t, err)
	require.NoError(t, s.Put(memory.Partition{ID: "a", Batches: []arrow.RecordBatch{second, second}}))
	second.Release()
	require.EqualValues(t, 2, count(t, r))
	require.NoError(t, r.Close())
	r, err = s.Scan(t.Context(), spec("a"))
	require.NoError(t, err)
	s.Remove("a")
	require.EqualValues(t, 2, count(t, r))
	require.NoError(t, r.Close())
	_, err = s.Scan(t.Context(), spec("a"))
	require.ErrorIs(t, err, &status.Error{Code: status.NotFound})
	s.Release()
}

func TestLargeBatchesAreDivided(t *testing.T) {
	t.Parallel()
	mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	b := batch(mem, make([]int, 200_000)...)
	defer b.Release()
	s, err := memory.New(schema, []memory.Partition{{ID: "a", Batches: []arrow.RecordBatch{b}}})
	require.NoError(t, err)
	defer s.Release()
	r, err := s.Scan(t.Context(), spec("a"))
	require.NoError(t, err)
	defer r.Close()
	first, err := r.Next(t.Context())
	require.NoError(t, err)
	require.Less(t, first.NumRows(), int64(100_000))
	first.Release()
	require.EqualValues(t, 200_000, count(t, r)+r.RowsScanned()-(200_000-first.NumRows()))
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	b := batch(mem, 1)
	defer b.Release()
	good := memory.Partition{ID: "a", Batches: []arrow.RecordBatch{b}}
	_, err := memory.New(schema, []memory.Partition{good, good})
	require.ErrorContains(t, err, `partition "a" is given twice`)
	_, err = memory.New(schema, []memory.Partition{{}})
	require.ErrorContains(t, err, "needs an id")
	other := arrow.NewSchema([]arrow.Field{{Name: "j", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, err = memory.New(other, []memory.Partition{good})
	require.ErrorContains(t, err, `partition "a", batch 0: the table has no column "i"`)
	text := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.BinaryTypes.String}}, nil)
	_, err = memory.New(text, []memory.Partition{good})
	require.ErrorContains(t, err, `column "i" is int64, which the table's utf8 does not hold`)
	_, err = memory.New(arrow.NewSchema(nil, nil), []memory.Partition{good})
	require.ErrorContains(t, err, `no column "i"`)

	uuids := arrow.NewSchema([]arrow.Field{pushdown.MarkUUID(text.Field(0))}, nil)
	upper, _, err := array.RecordFromJSON(mem, text, strings.NewReader(`[{"i": null}, {"i": "A0000000-0000-0000-0000-00000000000A"}]`))
	require.NoError(t, err)
	defer upper.Release()
	_, err = memory.New(uuids, []memory.Partition{{ID: "a", Batches: []arrow.RecordBatch{upper}}})
	require.ErrorContains(t, err, `column "i" holds "A0000000-0000-0000-0000-00000000000A", which is no UUID in canonical form`)

	s, err := memory.New(schema, []memory.Partition{good})
	require.NoError(t, err)
	defer s.Release()
	limited := spec("a")
	limited.Limit = 1
	_, err = s.Scan(t.Context(), limited)
	require.ErrorIs(t, err, &status.Error{Code: status.Unimplemented})
	wrong := spec("a")
	wrong.Columns[0].Name = "x"
	_, err = s.Scan(t.Context(), wrong)
	require.ErrorIs(t, err, &status.Error{Code: status.InvalidArgument})
}
