package engine

/*
#include <stdint.h>
#include <stdlib.h>
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// DuckDB keeps a void* for each of our values. It is C memory that holds a
// cgo.Handle, so that no Go pointer is kept by C.

// box returns C memory that stands for v, until tributaryFree.
func box(v any) unsafe.Pointer {
	p := C.malloc(C.size_t(unsafe.Sizeof(C.uintptr_t(0))))
	*(*C.uintptr_t)(p) = C.uintptr_t(cgo.NewHandle(v))
	return p
}

// unbox returns the value that a box stands for.
func unbox[T any](p unsafe.Pointer) T {
	return cgo.Handle(*(*C.uintptr_t)(p)).Value().(T)
}

// freeBox ends a box and returns its value.
func freeBox(p unsafe.Pointer) any {
	h := cgo.Handle(*(*C.uintptr_t)(p))
	v := h.Value()
	h.Delete()
	C.free(p)
	return v
}

// caught runs f and hands its error, or its panic, to report: a panic must not
// unwind into C.
func caught(report func(error), f func() error) {
	defer func() {
		if r := recover(); r != nil {
			report(status.New(status.Internal, "the engine's reader failed: %v", r))
		}
	}()
	if err := f(); err != nil {
		report(err)
	}
}

//export tributaryFree
func tributaryFree(p unsafe.Pointer) {
	caught(func(error) {}, func() error {
		if v, ok := freeBox(p).(interface{ freed() }); ok {
			v.freed()
		}
		return nil
	})
}

//export tributaryRemoteBind
func tributaryRemoteBind(p unsafe.Pointer) {
	info := duckdb.BindInfo{Ptr: p}
	run := unbox[*instance](duckdb.BindGetExtraInfo(info)).run.Load()
	caught(func(err error) {
		if run != nil {
			run.fail(err)
		}
		duckdb.BindSetError(info, err.Error())
	}, func() error { return remoteBind(info, run) })
}

//export tributaryRemoteInit
func tributaryRemoteInit(p unsafe.Pointer) {
	info := duckdb.InitInfo{Ptr: p}
	in := unbox[*boundInput](duckdb.InitGetBindData(info))
	caught(func(err error) {
		in.run.fail(err)
		duckdb.InitSetError(info, err.Error())
	}, func() error { return remoteInit(info, in) })
}

//export tributaryRemoteLocal
func tributaryRemoteLocal(p unsafe.Pointer) {
	duckdb.InitSetInitData(duckdb.InitInfo{Ptr: p}, box(&cursor{}), freeCallback())
}

//export tributaryRemoteRead
func tributaryRemoteRead(p, output unsafe.Pointer) {
	info := duckdb.FunctionInfo{Ptr: p}
	s := unbox[*scan](duckdb.FunctionGetInitData(info))
	caught(func(err error) {
		s.run.fail(err)
		duckdb.FunctionSetError(info, err.Error())
	}, func() error {
		c := unbox[*cursor](duckdb.FunctionGetLocalInitData(info))
		return s.read(c, duckdb.DataChunk{Ptr: output})
	})
}
