package flightsql

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestTransactions(t *testing.T) {
	t.Parallel()
	var s Server
	id, err := s.BeginTransaction(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, knownTransaction(id))
	require.NoError(t, knownTransaction(nil), "a statement outside a transaction has none")
	require.Equal(t, status.NotFound, status.CodeOf(knownTransaction([]byte("another"))))
}

func TestSQLInfo(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Alloc: memory.DefaultAllocator, Version: "v"})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		asked []uint32
		want  int
	}{"known": {[]uint32{0, 8}, 2}, "one unknown": {[]uint32{0, 59999}, 1}, "unknown only": {[]uint32{59999}, 0}, "all": {nil, len(sqlInfo("v"))}} {
		_, stream, err := s.DoGetSqlInfo(t.Context(), knownInfo{c.asked})
		require.NoError(t, err, name)
		chunk := <-stream
		require.EqualValues(t, c.want, chunk.Data.NumRows(), name)
		chunk.Data.Release()
	}
}
