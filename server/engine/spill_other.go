//go:build !unix

package engine

import "os"

// lockDir keeps the lock file open: where open files cannot be removed, that
// keeps the directory from being taken for a stale one.
func lockDir(dir string) (*os.File, error) {
	if err := os.Remove(lockFile(dir)); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return os.OpenFile(lockFile(dir), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
}
