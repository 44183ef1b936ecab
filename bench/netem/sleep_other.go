//go:build !linux

package netem

import "time"

func nanosleep(d time.Duration) { time.Sleep(d) }
