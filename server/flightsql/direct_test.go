package flightsql

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

// TestWhoReadsFromScanners: not those who came over TLS, in plain text; and not
// what a scanner cannot make of its values.
func TestWhoReadsFromScanners(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("a secret of the nodes"), 0o600))
	secret, err := secure.NewSecret(path, nil)
	require.NoError(t, err)
	plain := t.Context()
	tls := peer.NewContext(plain, &peer.Peer{AuthInfo: credentials.TLSInfo{}})
	for name, c := range map[string]struct {
		ctx          context.Context
		secret       *secure.Secret
		location     string
		have, wanted arrow.DataType
		direct       bool
	}{
		"plain":              {plain, secret, "grpc://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, true},
		"TLS":                {tls, secret, "grpc+tls://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, true},
		"plain to TLS":       {plain, secret, "grpc+tls://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, true},
		"TLS to plain":       {tls, secret, "grpc://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, false},
		"no location":        {plain, secret, "", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, false},
		"no secret":          {plain, nil, "grpc://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, false},
		"an unsigned column": {plain, secret, "grpc://s:1", arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, true},
		"as a float":         {plain, secret, "grpc://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, false},
		"narrower":           {plain, secret, "grpc://s:1", arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, false},
		"as text":            {plain, secret, "grpc://s:1", arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, false},
	} {
		s := &Server{secret: c.secret}
		part := &plan.Part{
			Location: c.location, Columns: []int{0}, Schema: arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.have}}, nil),
			Spec: pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit, Columns: []pushdown.Column{{Name: "v", DataType: c.have}}},
		}
		st := &query.Statement{Schema: arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.wanted}}, nil)}
		read, at, err := s.directRead(c.ctx, st, part)
		require.NoError(t, err, name)
		require.Equal(t, c.direct, read != nil, name)
		require.Equal(t, c.direct, at != "", name)
	}
}
