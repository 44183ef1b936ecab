package secure

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// statEvery bounds how often the files of a [File] are looked at.
const statEvery = time.Second

// File is a value made from files. It is made again when one of them changes;
// when that fails, the last good one stays. It is safe for concurrent use.
type File[T any] struct {
	paths []string
	read  func() (T, error)
	warn  func(error)

	mu     sync.Mutex
	value  T
	state  string
	looked time.Time
}

// NewFile makes the value with read. A later failure to make it again goes to
// warn, which may be nil.
func NewFile[T any](read func() (T, error), warn func(error), paths ...string) (*File[T], error) {
	if warn == nil {
		warn = func(error) {}
	}
	f := &File[T]{paths: paths, read: read, warn: warn, looked: time.Now()}
	f.state = f.stat()
	var err error
	f.value, err = read()
	return f, err
}

// Get returns the value of the files as they are now, give or take a second.
func (f *File[T]) Get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < statEvery {
		return f.value
	}
	f.looked = time.Now()
	if state := f.stat(); state != f.state {
		f.state = state
		f.again()
	}
	return f.value
}

func (f *File[T]) again() {
	value, err := f.read()
	if err != nil {
		f.warn(err)
		return
	}
	f.value = value
}

// stat is a text that differs when a file has changed.
func (f *File[T]) stat() string {
	out := ""
	for _, path := range f.paths {
		info, err := os.Stat(path)
		if err != nil {
			out += "missing;"
			continue
		}
		out += fmt.Sprintf("%d %d;", info.ModTime().UnixNano(), info.Size())
	}
	return out
}
