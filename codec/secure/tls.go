package secure

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"

	"google.golang.org/grpc/credentials"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Files are the PEM files of one end of TLS connections.
type Files struct {
	// Cert and Key are this end's certificate chain and its key. A server needs
	// them; a client has them for mutual TLS.
	Cert, Key string
	// CA has the certificates that the other end's must descend from. A client
	// without it trusts those of the system; a server with it refuses clients
	// without a certificate.
	CA string
	// ServerName is the name that a client expects in the server's certificate;
	// the default is the host that it connects to.
	ServerName string
	// SkipVerify makes a client accept any server.
	SkipVerify bool
	// Warn gets the errors of files that changed and cannot be used; the
	// connections go on with the last good ones. It may be nil.
	Warn func(error)
}

// ServerTLS returns the credentials of a server. The files are read again when
// they change.
func ServerTLS(files Files) (credentials.TransportCredentials, error) {
	if files.Cert == "" || files.Key == "" {
		return nil, status.New(status.InvalidArgument, "TLS needs both a certificate and a key")
	}
	return newTLS(files, func() (*tls.Config, error) {
		cfg, err := files.load()
		if err == nil && files.CA != "" {
			cfg.ClientAuth, cfg.ClientCAs = tls.RequireAndVerifyClientCert, cfg.RootCAs
		}
		return cfg, err
	})
}

// ClientTLS returns the credentials of a client. The files are read again when
// they change.
func ClientTLS(files Files) (credentials.TransportCredentials, error) {
	if (files.Cert == "") != (files.Key == "") {
		return nil, status.New(status.InvalidArgument, "a client certificate needs its key, and a key its certificate")
	}
	return newTLS(files, files.load)
}

// load reads the files. TLS 1.2 is the least that is spoken, and a peer that
// offers less is refused.
func (f Files) load() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.ServerName, InsecureSkipVerify: f.SkipVerify}
	if f.Cert != "" {
		pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "the TLS certificate %s with the key %s", f.Cert, f.Key)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if f.CA == "" {
		return cfg, nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "the TLS CA")
	}
	cfg.RootCAs = x509.NewCertPool()
	if !cfg.RootCAs.AppendCertsFromPEM(pem) {
		return nil, status.New(status.InvalidArgument, "the TLS CA %s has no PEM certificate", f.CA)
	}
	return cfg, nil
}

// reloading makes each handshake with the newest configuration.
type reloading struct {
	credentials.TransportCredentials // for Info, and what gRPC adds
	config                           *File[*tls.Config]
}

func newTLS(files Files, load func() (*tls.Config, error)) (credentials.TransportCredentials, error) {
	var paths []string
	for _, p := range []string{files.Cert, files.Key, files.CA} {
		if p != "" {
			paths = append(paths, p)
		}
	}
	config, err := NewFile(load, files.Warn, paths...)
	if err != nil {
		return nil, err
	}
	return reloading{credentials.NewTLS(config.Get()), config}, nil
}

// ClientHandshake makes the client's side of a connection.
func (r reloading) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(r.config.Get()).ClientHandshake(ctx, authority, conn)
}

// ServerHandshake makes the server's side of a connection.
func (r reloading) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(r.config.Get()).ServerHandshake(conn)
}

// Clone returns a copy, which sees the same files.
func (r reloading) Clone() credentials.TransportCredentials {
	return reloading{r.TransportCredentials.Clone(), r.config}
}
