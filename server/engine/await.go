package engine

import (
	"time"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// How long to pause while all that is left to do is done by other threads.
const (
	leastPause = 20 * time.Microsecond
	mostPause  = 250 * time.Microsecond
)

// await works on a statement until its first rows are there, and reports whether
// they are: a statement that failed cannot be executed any more.
// DuckDB's own way of executing it spins while there is nothing to do, and so takes
// the processor from those that it waits for.
func await(pending duckdb.PendingResult) (ok bool) {
	for pause := leastPause; ; {
		switch duckdb.PendingExecuteTask(pending) {
		case duckdb.PendingStateResultNotReady:
			pause = leastPause
		case duckdb.PendingStateNoTasksAvailable:
			time.Sleep(pause)
			pause = min(2*pause, mostPause)
		case duckdb.PendingStateError:
			return false
		default:
			return true
		}
	}
}
