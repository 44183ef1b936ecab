//go:build linux

package netem

import (
	"syscall"
	"time"
)

// nanosleep waits in the kernel; a signal may end it early.
func nanosleep(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil)
}
