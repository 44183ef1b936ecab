package query

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistoryKeepsTheLast(t *testing.T) {
	t.Parallel()
	var h History
	require.Empty(t, h.RecordsOf("ann"))
	for i := range 2*maxHistory + 7 {
		h.add(Record{ID: strconv.Itoa(i), User: "ann"})
	}
	require.Empty(t, h.RecordsOf("bob"), "nobody sees the statements of others")
	records := h.RecordsOf("ann")
	require.Len(t, records, maxHistory)
	for i, r := range records {
		require.Equal(t, strconv.Itoa(2*maxHistory+6-i), r.ID)
	}
}
