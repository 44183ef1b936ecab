package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLimitHeap is not parallel: the limit is the process's.
func TestLimitHeap(t *testing.T) {
	unlimited := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(unlimited) })
	for _, c := range []struct {
		name  string
		bytes byteSize
		env   string
		want  int64
	}{
		{"none", 0, "", unlimited},
		{"a limit", 1 << 30, "", 1 << 30},
		{"too small", 1 << 20, "", leastHeap},
		{"the environment's", 1 << 30, "2GiB", unlimited},
	} {
		debug.SetMemoryLimit(unlimited)
		t.Setenv("GOMEMLIMIT", c.env)
		limitHeap(c.bytes)
		require.Equal(t, c.want, debug.SetMemoryLimit(-1), c.name)
	}
}

func TestScannerHeap(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 1<<30, scannerHeap(4<<30, 128<<20))
	require.EqualValues(t, 768<<20, scannerHeap(1<<30, 512<<20), "room around what is kept")
}
