package health

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	var cause error
	s := server{ready: func() error { return cause }}
	check := func(service string) (healthpb.HealthCheckResponse_ServingStatus, error) {
		r, err := s.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		return r.GetStatus(), err
	}
	for _, name := range []string{"", service} {
		cause = nil
		have, err := check(name)
		require.NoError(t, err)
		require.Equal(t, healthpb.HealthCheckResponse_SERVING, have)
		cause = errors.New("a scanner is missing")
		have, err = check(name)
		require.NoError(t, err)
		require.Equal(t, healthpb.HealthCheckResponse_NOT_SERVING, have)
	}
	_, err := check("other")
	require.Equal(t, codes.NotFound, status.Code(err))
}
