// Package status is the one error type of Tributary: a code, a message that
// names the thing and the remedy, the cause, and whether it came over the wire.
//
// Every package returns *Error across its API. The border packages translate it
// exactly once: codec/grpcstatus to and from gRPC.
package status

import (
	"context"
	"errors"
	"fmt"
)

// Code classifies an error. The values are those of gRPC status codes, so that
// the border mapping is the identity.
type Code uint32

// The codes in use; see google.golang.org/grpc/codes for the numbering.
const (
	OK                 Code = 0
	Canceled           Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	AlreadyExists      Code = 6
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	DataLoss           Code = 15
	Unauthenticated    Code = 16
)

var codeNames = [...]string{
	"ok", "canceled", "unknown", "invalid argument", "deadline exceeded", "not found",
	"already exists", "permission denied", "resource exhausted", "failed precondition",
	"aborted", "out of range", "unimplemented", "internal", "unavailable", "data loss",
	"unauthenticated",
}

// String returns the code in lower-case words.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint32(c))
}

// Error is the error type of every Tributary API.
type Error struct {
	// Code is the class of the error.
	Code Code
	// Message is one sentence for the user.
	Message string
	// Cause is the wrapped error, if any.
	Cause error
	// Remote says that the error was received from a peer.
	Remote bool
}

// Error returns the message followed by the cause.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	if e.Message == "" {
		return e.Cause.Error()
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an *Error of the same code with no message: the
// form `errors.Is(err, &status.Error{Code: status.NotFound})`.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Cause == nil && t.Code == e.Code
}

// New returns an error of the given code with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap adds context to err and keeps the code that err already carries;
// fallback is used when it carries none. Wrap of nil is nil.
func Wrap(fallback Code, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	e := &Error{Code: CodeOf(err), Message: fmt.Sprintf(format, args...), Cause: err}
	if e.Code == Unknown {
		e.Code = fallback
	}
	if inner := (*Error)(nil); errors.As(err, &inner) {
		e.Remote = inner.Remote
	}
	return e
}

// CodeOf returns the code of the first *Error in the chain; context errors map
// to Canceled and DeadlineExceeded, nil to OK, anything else to Unknown.
func CodeOf(err error) Code {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return DeadlineExceeded
	}
	return Unknown
}
