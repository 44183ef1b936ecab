package duckdb

import (
	"os"
	"syscall"
)

// identity is the file's inode and the time of its last change of any kind.
func identity(info os.FileInfo) (inode uint64, changed int64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return st.Ino, st.Ctim.Nano()
}
