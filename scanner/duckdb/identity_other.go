//go:build !linux

package duckdb

import "os"

// identity is not known on this system.
func identity(os.FileInfo) (inode uint64, changed int64) { return 0, 0 }
