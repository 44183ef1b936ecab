package main

import (
	"net"
	"strings"

	"github.com/rs/zerolog"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
)

// serverTLS are the TLS options of a server.
type serverTLS struct {
	TLSCert     string `name:"tls-cert" help:"PEM certificate chain; the server then speaks TLS only. Read again when it changes." placeholder:"FILE"`
	TLSKey      string `name:"tls-key" help:"PEM key of --tls-cert." placeholder:"FILE"`
	TLSClientCA string `name:"tls-client-ca" help:"PEM certificates; clients must show one that descends from them (mutual TLS)." placeholder:"FILE"`
}

func (s serverTLS) on() bool { return s.TLSCert != "" || s.TLSKey != "" }

// options are those of the gRPC server.
func (s serverTLS) options(log zerolog.Logger) ([]grpc.ServerOption, error) {
	if !s.on() {
		if s.TLSClientCA != "" {
			return nil, status.New(status.InvalidArgument, "--tls-client-ca needs --tls-cert and --tls-key")
		}
		return nil, nil
	}
	creds, err := secure.ServerTLS(secure.Files{Cert: s.TLSCert, Key: s.TLSKey, CA: s.TLSClientCA, Warn: warnFile(log)})
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "--tls-cert, --tls-key, --tls-client-ca")
	}
	return []grpc.ServerOption{grpc.Creds(creds)}, nil
}

// uri is how clients name the address.
func (s serverTLS) uri(addr net.Addr) string {
	if s.on() {
		return "grpc+tls://" + addr.String()
	}
	return "grpc://" + addr.String()
}

// warnFile reports a file that changed and cannot be used.
func warnFile(log zerolog.Logger) func(error) {
	return func(err error) {
		log.Warn().Err(err).Msg("a file changed and cannot be used; the last good one stays in force")
	}
}

// scannerLink is how a coordinator talks to its scanners.
type scannerLink struct {
	ScannerTLSCA   string `name:"scanner-tls-ca" help:"PEM certificates that those of scanners descend from; scanners without grpc:// in their address are then reached over TLS." placeholder:"FILE"`
	ScannerTLSCert string `name:"scanner-tls-cert" help:"PEM certificate that scanners with --tls-client-ca ask for." placeholder:"FILE"`
	ScannerTLSKey  string `name:"scanner-tls-key" help:"PEM key of --scanner-tls-cert." placeholder:"FILE"`
	SecretFile     string `help:"File with the secret that this coordinator and its scanners share." placeholder:"FILE"`
}

// dialer connects to scanners; nil is the default, plain text to anybody.
func (s scannerLink) dialer(secret *secure.Secret, log zerolog.Logger) (func(string) (*codec.Client, error), error) {
	files := secure.Files{CA: s.ScannerTLSCA, Cert: s.ScannerTLSCert, Key: s.ScannerTLSKey, Warn: warnFile(log)}
	creds, err := secure.ClientTLS(files)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "--scanner-tls-ca, --scanner-tls-cert, --scanner-tls-key")
	}
	var common []grpc.DialOption
	if secret != nil {
		common = append(common, grpc.WithPerRPCCredentials(secret.Credentials()))
	}
	return func(addr string) (*codec.Client, error) {
		target, encrypt := splitScheme(addr)
		if encrypt || s.ScannerTLSCA != "" && target == addr {
			return codec.Dial(target, append([]grpc.DialOption{grpc.WithTransportCredentials(creds)}, common...)...)
		}
		return codec.Dial(target, common...)
	}, nil
}

// readSecret reads --secret-file; nil without one.
func readSecret(path string, log zerolog.Logger) (*secure.Secret, error) {
	if path == "" {
		return nil, nil
	}
	secret, err := secure.NewSecret(path, warnFile(log))
	return secret, status.Wrap(status.InvalidArgument, err, "--secret-file")
}

// splitScheme takes the scheme off an address and says whether it asks for TLS.
// A scheme that is not known stays.
func splitScheme(addr string) (target string, encrypt bool) {
	for scheme, encrypt := range map[string]bool{"grpc://": false, "grpc+tcp://": false, "grpc+tls://": true, "grpcs://": true} {
		if target, ok := strings.CutPrefix(addr, scheme); ok {
			return target, encrypt
		}
	}
	return addr, false
}

// beyond: an address can be reached from other machines.
func beyond(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// warnHTTP warns when the console, which is plain text, can be reached from
// other machines.
func warnHTTP(log zerolog.Logger, addr string, authenticated bool) {
	switch {
	case !beyond(addr):
	case authenticated:
		log.Warn().Str("http", addr).Msg("HTTP is served beyond this machine WITHOUT TLS: /metrics is anybody's, and passwords for /queries can be read on the way")
	default:
		log.Warn().Str("http", addr).Msg("HTTP is served beyond this machine WITHOUT AUTHENTICATION: anyone who reaches this address reads the last statements at /queries")
	}
}

// warnOpen warns when an address can be reached from other machines and is not
// protected.
func warnOpen(log zerolog.Logger, addr string, encrypted, authenticated bool) {
	if !beyond(addr) {
		return
	}
	if !encrypted {
		log.Warn().Str("listen", addr).Msg("listening beyond this machine WITHOUT TLS: whoever is on the way reads passwords, statements and rows; see --tls-cert")
	}
	if !authenticated {
		log.Warn().Str("listen", addr).Msg("listening beyond this machine WITHOUT AUTHENTICATION: anyone who reaches this address reads every table")
	}
}
