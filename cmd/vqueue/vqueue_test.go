package vqueue

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestLayoutAddsUp(t *testing.T) {
	t.Parallel()
	for _, l := range []Layout{Default(), {Partitions: 3, Rows: 101, Hot: 60}, {Partitions: 2, Rows: 10, Hot: 10}} {
		total := 0
		for p := range l.Partitions {
			total += l.RowsIn(p)
		}
		require.Equal(t, l.Rows, total)
	}
}

func TestBatchesAreDeterministicAndReleased(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	l := Layout{Partitions: 2, Rows: 1000, Hot: 900, Seed: 7}
	ids := func() (all []string) {
		require.NoError(t, l.Batches(hotPartition%2, mem, func(b arrow.RecordBatch) error {
			require.True(t, b.Schema().Equal(Schema()))
			col := b.Column(1).(*array.String)
			for i := range col.Len() {
				all = append(all, col.Value(i))
			}
			return nil
		}))
		return all
	}
	first := ids()
	require.Len(t, first, 900)
	require.Equal(t, first, ids())
}

func TestWriteOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	l := Layout{Partitions: 3, Rows: 500, Hot: 300, Seed: 1}
	wrote, err := l.Write(dir)
	require.NoError(t, err)
	require.True(t, wrote)
	for p := range l.Partitions {
		require.FileExists(t, filepath.Join(dir, FileName(p)))
	}
	wrote, err = l.Write(dir)
	require.NoError(t, err)
	require.False(t, wrote)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	_, err = l.Write(filepath.Join(dir, "file"))
	require.ErrorContains(t, err, "cannot create the data directory")
}
