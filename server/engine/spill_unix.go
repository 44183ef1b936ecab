//go:build unix

package engine

import (
	"os"
	"syscall"
)

// lockDir takes the exclusive lock of a spill directory, or fails at once. The
// kernel drops it when the process ends, however it ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(lockFile(dir), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
