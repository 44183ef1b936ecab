package engine

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/tributary-db/tributary/pushdown/status"
)

const spillPrefix = "tributary-spill-"

// spillRoot is the directory of a pool's spill: one sub-directory an instance.
// The process holds a lock on it, so that another process can tell the
// directory of a living pool from one that a killed process left behind.
type spillRoot struct {
	path string
	lock *os.File
	next atomic.Int64
}

// newSpillRoot creates a directory under parent and removes stale ones there.
func newSpillRoot(parent string) (*spillRoot, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, status.Wrap(status.FailedPrecondition, err, "create the spill directory %s", parent)
	}
	removeStale(parent)
	path, err := os.MkdirTemp(parent, spillPrefix)
	if err != nil {
		return nil, status.Wrap(status.FailedPrecondition, err, "create a spill directory in %s", parent)
	}
	lock, err := lockDir(path)
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, status.Wrap(status.FailedPrecondition, err, "lock the spill directory %s", path)
	}
	return &spillRoot{path: path, lock: lock}, nil
}

// removeStale removes the spill directories that no process holds.
func removeStale(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, spillPrefix+"*"))
	for _, dir := range dirs {
		if _, err := os.Stat(lockFile(dir)); err != nil {
			continue // being created, or not ours
		}
		if lock, err := lockDir(dir); err == nil {
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}

func lockFile(dir string) string { return filepath.Join(dir, "lock") }

// instanceDir names the directory of the next instance.
func (s *spillRoot) instanceDir() string {
	return filepath.Join(s.path, strconv.FormatInt(s.next.Add(1), 10))
}

// remove deletes everything, with the lock held to the end.
func (s *spillRoot) remove() error {
	err := os.RemoveAll(s.path)
	_ = s.lock.Close()
	return err
}
