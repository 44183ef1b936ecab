package main

import (
	"os"
	"runtime/debug"
)

// leastHeap is below what a heap is never asked to stay: collecting all the time
// would cost more than the memory is worth.
const leastHeap = 192 << 20

// scannerHeap is what a scanner's heap should stay within, beside DuckDB's memory:
// a quarter of that, and room around the rows that are kept.
func scannerHeap(memory, keep byteSize) byteSize { return max(memory/4, keep+keep/2) }

// limitHeap asks the collector to keep the heap within what the process may hold.
// Left alone it lets the heap grow to twice what is live, which large rows make
// much. GOMEMLIMIT wins; 0 is no limit.
func limitHeap(bytes byteSize) {
	if bytes > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(int64(bytes), leastHeap))
	}
}
