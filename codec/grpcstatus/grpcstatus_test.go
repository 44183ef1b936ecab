package grpcstatus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	grpc "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestToGRPC(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		code codes.Code
		text string
	}{
		"typed":    {status.New(status.NotFound, "table %q", "t"), codes.NotFound, `table "t"`},
		"wrapped":  {fmt.Errorf("outer: %w", status.New(status.OutOfRange, "inner")), codes.OutOfRange, "outer: inner"},
		"cause":    {status.Wrap(status.Internal, io.ErrUnexpectedEOF, "read"), codes.Internal, "read: unexpected EOF"},
		"canceled": {context.Canceled, codes.Canceled, "context canceled"},
		"deadline": {fmt.Errorf("x: %w", context.DeadlineExceeded), codes.DeadlineExceeded, "x: context deadline exceeded"},
		"unknown":  {io.EOF, codes.Unknown, "EOF"},
		"gRPC":     {grpc.Error(codes.Aborted, "as it is"), codes.Aborted, "as it is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ok := grpc.FromError(ToGRPC(tc.err))
			require.True(t, ok)
			require.Equal(t, tc.code, s.Code())
			require.Equal(t, tc.text, s.Message())
		})
	}
	require.NoError(t, ToGRPC(nil))
}

func TestEveryCodeSurvives(t *testing.T) {
	t.Parallel()
	for code := status.Canceled; code <= status.Unauthenticated; code++ {
		got := FromGRPC(ToGRPC(status.New(code, "m")))
		require.Equal(t, &status.Error{Code: code, Message: "m", Remote: true}, got)
		require.Equal(t, codes.Code(code).String(), grpc.Code(ToGRPC(status.New(code, "m"))).String())
	}
}

func TestFromGRPC(t *testing.T) {
	t.Parallel()
	require.NoError(t, FromGRPC(nil))
	own := status.New(status.DataLoss, "ours")
	require.Same(t, own, FromGRPC(own), "translated once")
	require.Equal(t, status.Unknown, status.CodeOf(FromGRPC(io.EOF)))
	require.ErrorIs(t, FromGRPC(io.EOF), io.EOF)
	require.Equal(t, status.Canceled, status.CodeOf(FromGRPC(context.Canceled)))
	require.True(t, errors.Is(FromGRPC(grpc.Error(codes.Aborted, "x")), &status.Error{Code: status.Aborted}))
}

// TestLongMessagesFitIntoHeaders: clients reject headers above 8 KiB.
func TestLongMessagesFitIntoHeaders(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"ascii": "x", "umlaut": "ü", "astral": "\U0001F600", "percent": "%", "invalid": "\xff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			msg := grpc.Convert(ToGRPC(status.New(status.Internal, "%s", strings.Repeat(text, 20_000)))).Message()
			require.LessOrEqual(t, len(url.PathEscape(msg)), 7<<10)
			require.True(t, strings.HasSuffix(msg, "(cut)"))
		})
	}
	short := strings.Repeat("x", maxMessage)
	require.Equal(t, short, grpc.Convert(ToGRPC(status.New(status.Internal, "%s", short))).Message())
}
