package main

import (
	"context"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
)

// login is how `tributary query` protects its connection and says who it is.
type login struct {
	TLSCA         string `name:"tls-ca" help:"PEM certificates that the server's must descend from; the default is the system's." placeholder:"FILE"`
	TLSCert       string `name:"tls-cert" help:"PEM certificate, for servers with --tls-client-ca." placeholder:"FILE"`
	TLSKey        string `name:"tls-key" help:"PEM key of --tls-cert." placeholder:"FILE"`
	TLSSkipVerify bool   `name:"tls-skip-verify" help:"Accept any certificate of the server: for tests only."`
	User          string `help:"User name." placeholder:"NAME"`
	Password      string `help:"Password; better in TRIBUTARY_PASSWORD or in --password-file." placeholder:"TEXT"`
	PasswordFile  string `help:"File with the password." placeholder:"FILE"`
	Token         string `help:"Bearer token; better in TRIBUTARY_TOKEN or in --token-file." placeholder:"TEXT"`
	TokenFile     string `help:"File with the token." placeholder:"FILE"`
}

// connect opens the connection and, with a user, exchanges the password for a
// token.
func (c *queryCmd) connect(ctx context.Context) (*flightsql.Client, error) {
	addr, encrypt := splitScheme(c.Server)
	if strings.Contains(addr, "://") {
		return nil, status.New(status.InvalidArgument, "--server %q: write grpc://host:port, or grpc+tls://host:port for TLS", c.Server)
	}
	token, password, err := c.secrets()
	if err != nil {
		return nil, err
	}
	bearer := &bearer{}
	if token != "" {
		bearer.header = "Bearer " + token
	}
	creds, err := c.transport(encrypt)
	if err != nil {
		return nil, err
	}
	client, err := flightsql.NewClientCtx(ctx, addr, nil, nil,
		grpc.WithTransportCredentials(creds), grpc.WithPerRPCCredentials(bearer),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithInitialWindowSize(16<<20), grpc.WithInitialConnWindowSize(16<<20))
	if err != nil {
		return nil, status.Wrap(status.Unavailable, err, "cannot connect to %s", c.Server)
	}
	if c.User != "" {
		if bearer.header, err = signIn(ctx, client.Client, c.User, password); err != nil {
			_ = client.Close()
			return nil, c.explain(err)
		}
	}
	return client, nil
}

func (l login) transport(encrypt bool) (credentials.TransportCredentials, error) {
	if encrypt {
		return secure.ClientTLS(secure.Files{CA: l.TLSCA, Cert: l.TLSCert, Key: l.TLSKey, SkipVerify: l.TLSSkipVerify})
	}
	if l.TLSCA != "" || l.TLSCert != "" || l.TLSSkipVerify {
		return nil, status.New(status.InvalidArgument, "TLS options need --server grpc+tls://host:port")
	}
	return insecure.NewCredentials(), nil
}

// secrets are the token and the password, from flags, environment or files.
func (l login) secrets() (token, password string, err error) {
	if token, err = textOr(l.Token, l.TokenFile); err != nil {
		return "", "", status.Wrap(status.InvalidArgument, err, "--token-file")
	}
	if password, err = textOr(l.Password, l.PasswordFile); err != nil {
		return "", "", status.Wrap(status.InvalidArgument, err, "--password-file")
	}
	if token != "" && l.User != "" {
		return "", "", status.New(status.InvalidArgument, "give either a token or a user, not both")
	}
	return token, password, nil
}

func textOr(text, path string) (string, error) {
	if path == "" {
		return text, nil
	}
	body, err := os.ReadFile(path)
	return strings.TrimRight(string(body), "\r\n"), err
}

// signIn returns the authorization header of the calls to come.
func signIn(ctx context.Context, client flight.Client, user, password string) (string, error) {
	ctx, err := client.AuthenticateBasicToken(ctx, user, password)
	if err != nil {
		return "", grpcstatus.FromGRPC(err)
	}
	md, _ := metadata.FromOutgoingContext(ctx)
	for _, header := range md.Get("authorization") {
		if strings.HasPrefix(header, "Bearer ") {
			return header, nil
		}
	}
	return "", status.New(status.Unauthenticated, "the server took the password and gave no token")
}

// bearer sends a header with every call once it is known. It goes over plain
// text, too: a server without TLS can be on the same machine.
type bearer struct{ header string }

// GetRequestMetadata returns the header.
func (b *bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if b.header == "" {
		return nil, nil
	}
	return map[string]string{"authorization": b.header}, nil
}

// RequireTransportSecurity is false, see bearer.
func (*bearer) RequireTransportSecurity() bool { return false }
