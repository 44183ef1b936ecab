package flightsql

import (
	"context"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// headerPrefix begins the name of a header that overrides a session setting for
// one call: x-tributary-partitioned-results. Clients that offer no other way to
// set something can send headers.
const headerPrefix = "x-tributary-"

// settings are those of the session, and over them those of the call's headers.
func (s *Server) settings(ctx context.Context) (query.Settings, error) {
	sess, err := s.session(ctx)
	if err != nil {
		return query.Settings{}, err
	}
	set := sess.Settings()
	md, _ := metadata.FromIncomingContext(ctx)
	for header, values := range md {
		name, ok := strings.CutPrefix(header, headerPrefix)
		if !ok || len(values) == 0 {
			continue
		}
		if err := set.Set(strings.ReplaceAll(name, "-", "_"), values[len(values)-1]); err != nil {
			return set, status.Wrap(status.InvalidArgument, err, "header %s", header)
		}
	}
	return set, nil
}
