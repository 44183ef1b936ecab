package secure

import (
	"context"

	"google.golang.org/grpc/credentials"

	"github.com/tributary-db/tributary/pushdown/status"
)

var _ credentials.PerRPCCredentials = Proof{}

// GetRequestMetadata makes the header of one call.
func (p Proof) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	call, ok := credentials.RequestInfoFromContext(ctx)
	if !ok {
		return nil, status.New(status.Internal, "a call without a method")
	}
	return map[string]string{proofHeader: p.secret.prove(call.Method)}, nil
}

// RequireTransportSecurity is false: a proof does not tell the secret, so that
// it may go over plain text inside a trusted network.
func (Proof) RequireTransportSecurity() bool { return false }
