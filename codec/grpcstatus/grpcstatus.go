package grpcstatus

import (
	"errors"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	grpc "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/pushdown/status"
)

// maxMessage bounds a message in its percent-encoded form: some clients reject
// headers of more than 8 KiB.
const maxMessage = 6 << 10

// ToGRPC returns err as a gRPC status error of the same code. A nil error stays
// nil, and an error that already is a gRPC status is returned as it is unless a
// [status.Error] wraps it.
func ToGRPC(err error) error {
	if err == nil {
		return nil
	}
	code := status.CodeOf(err)
	if code == status.Unknown {
		if s, ok := foreign(err); ok {
			return s.Err()
		}
	}
	return grpc.Error(codes.Code(code), truncate(err.Error()))
}

// foreign finds a gRPC status in the chain of an error without a status.Error.
func foreign(err error) (*grpc.Status, bool) {
	var own *status.Error
	if errors.As(err, &own) {
		return nil, false
	}
	return grpc.FromError(err)
}

// FromGRPC returns err as a [status.Error] that came over the wire. An error
// that already is one stays as it is, nil stays nil.
func FromGRPC(err error) error {
	var own *status.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	s, ok := grpc.FromError(err)
	if !ok {
		return status.Wrap(status.Unknown, err, "remote call failed")
	}
	if s.Code() == codes.OK {
		return nil
	}
	return &status.Error{Code: status.Code(s.Code()), Message: s.Message(), Remote: true}
}

// truncate cuts msg so that its percent-encoded form stays below maxMessage.
func truncate(msg string) string {
	encoded := 0
	for i, r := range msg {
		n := 1
		if r < ' ' || r > '~' || r == '%' {
			n = 3 * utf8.RuneLen(max(r, 0))
		}
		if encoded += n; encoded > maxMessage {
			return msg[:i] + "... (cut)"
		}
	}
	return msg
}
