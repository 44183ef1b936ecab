package flightsql

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// panicking is out of memory.
type panicking struct{ memory.Allocator }

func (panicking) Allocate(int) []byte { panic("no memory") }

// TestRowsOfTablesPanic: the goroutine that makes them does not end the process.
func TestRowsOfTablesPanic(t *testing.T) {
	t.Parallel()
	s := &Server{}
	s.Alloc = panicking{memory.DefaultAllocator}
	var err error
	for chunk := range s.tableRows(t.Context(), []*catalog.Table{{Schema: "main", Name: "t"}}, nil) {
		err = chunk.Err
	}
	require.Equal(t, status.Internal, status.CodeOf(err))
	require.ErrorContains(t, err, "no memory")
}
