package flightsql

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestBoundHandle(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Alloc: memory.DefaultAllocator})
	require.NoError(t, err)
	own, last := [][]string{{"1"}}, [][]string{{"2"}, {"3"}}
	h := handle{SQL: "SELECT ?", ID: "x", Rows: own}
	raw, err := s.handles.prepared(t.Context(), &h)
	require.NoError(t, err)
	got, err := s.boundHandle(t.Context(), raw)
	require.NoError(t, err)
	require.Equal(t, own, got.Rows, "a handle carries its values")
	s.bound.put("x", last, 1+weight(last))
	got, err = s.boundHandle(t.Context(), raw)
	require.NoError(t, err)
	require.Equal(t, last, got.Rows, "a client that ignored the newest handle gets what it bound last")
	_, err = s.boundHandle(t.Context(), raw[1:])
	require.Error(t, err)
	require.Equal(t, 1+2*17, s.bound.weight)
}

func TestAClosedHandleIsGone(t *testing.T) {
	t.Parallel()
	s, err := New(Config{Alloc: memory.DefaultAllocator})
	require.NoError(t, err)
	h := handle{SQL: "SELECT 1", ID: "x"}
	raw, err := s.handles.prepared(t.Context(), &h)
	require.NoError(t, err)
	_, err = s.openHandle(t.Context(), raw)
	require.NoError(t, err)
	req := closeRequest(raw)
	require.NoError(t, s.ClosePreparedStatement(t.Context(), req))
	_, err = s.boundHandle(t.Context(), raw)
	require.Equal(t, status.NotFound, status.CodeOf(err))
	require.NoError(t, s.ClosePreparedStatement(t.Context(), req), "a client may close twice")
}

type closeRequest []byte

func (c closeRequest) GetPreparedStatementHandle() []byte { return c }
