package flightsql

import (
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/health"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/query"
)

// maxReceive bounds a request from a client: a statement or bound parameters.
const maxReceive = 16 << 20

const (
	// maxPlans plans are kept between the preparation of a statement and its
	// execution.
	maxPlans = 1024
	planLife = time.Minute
	// maxBoundBytes of values are kept for clients that ignore the handle that
	// carries them.
	maxBoundBytes = 64 << 20
	boundLife     = 30 * time.Minute
)

// Config configures a Server.
type Config struct {
	// Service runs the statements.
	Service *query.Service
	// Version is reported to clients.
	Version string
	// Key is the secret that seals handles and tickets; coordinators that share
	// it serve each other's. A random one is made when it is empty.
	Key []byte
	// Secret is what the coordinator shares with its scanners; with it clients may
	// read from scanners that advertise themselves. nil for none.
	Secret *secure.Secret
	// TicketLife is how long a ticket may be fetched, PreparedLife how long a
	// prepared statement may be executed; 0 is the default.
	TicketLife, PreparedLife time.Duration
	// SessionIdle is how long a session in a cookie may rest; 0 is the default.
	SessionIdle time.Duration
	// Auth knows who makes a call; nil lets everybody in.
	Auth *auth.Authenticator
	// Ready is what health checks ask; nil for none.
	Ready func() error
	// Alloc is used for results.
	Alloc memory.Allocator
	// Logger gets a line for every recovered panic.
	Logger zerolog.Logger
}

// Server implements flightsql.Server.
type Server struct {
	flightsql.BaseServer
	service  *query.Service
	handles  *handles
	prepared *cache[*query.Statement]
	closed   *cache[bool]    // ids of handles
	info     map[uint32]bool // the SqlInfo codes that are answered
	bound    *cache[[][]string]
	queries  *queries
	sessions *sessions
	cookies  *cookies
	schemas  schemaCache
	auth     *auth.Authenticator
	secret   *secure.Secret
	ready    func() error
	shared   bool // other coordinators serve what this one seals
	log      zerolog.Logger
}

// New returns a Server.
func New(cfg Config) (*Server, error) {
	secret, err := auth.SecretOr(cfg.Key)
	if err != nil {
		return nil, err
	}
	handles, err := newHandles(secret, cfg.TicketLife, cfg.PreparedLife)
	if err != nil {
		return nil, err
	}
	cookies, err := newCookies(secret, cfg.SessionIdle)
	if err != nil {
		return nil, err
	}
	if cfg.Auth == nil {
		if cfg.Auth, err = auth.New(auth.Config{Secret: secret}); err != nil {
			return nil, err
		}
	}
	s := &Server{
		auth:     cfg.Auth,
		secret:   cfg.Secret,
		ready:    cfg.Ready,
		shared:   len(cfg.Key) > 0,
		service:  cfg.Service,
		handles:  handles,
		prepared: newCache[*query.Statement](maxPlans, planLife),
		info:     map[uint32]bool{},
		closed:   newCache[bool](maxPlans, boundLife),
		bound:    newCache[[][]string](maxBoundBytes, boundLife),
		queries:  newQueries(),
		sessions: newSessions(),
		cookies:  cookies,
		log:      cfg.Logger,
	}
	s.Alloc = cfg.Alloc
	return s, s.registerSQLInfo(cfg.Version)
}

// GRPCServer returns a gRPC server that serves s.
func (s *Server) GRPCServer(extra ...grpc.ServerOption) *grpc.Server {
	opts := append(slices.Concat(codec.ServerOptions(), secure.Limits()),
		grpc.ChainUnaryInterceptor(s.interceptUnary, s.auth.Unary),
		grpc.ChainStreamInterceptor(s.interceptStream, s.auth.Stream),
		grpc.StatsHandler(s.sessions),
		grpc.MaxRecvMsgSize(maxReceive),
	)
	g := grpc.NewServer(append(opts, extra...)...)
	if s.ready != nil {
		health.Register(g, s.ready)
	}
	flight.RegisterFlightServiceServer(g, &flightService{FlightServer: flightsql.NewFlightServerWithAllocator(s, s.Alloc), server: s})
	return g
}

// flightService adds to the Flight SQL service what arrow-go's leaves out.
type flightService struct {
	flight.FlightServer
	server *Server
}

// Handshake answers with the header that authorises the calls to come.
func (f *flightService) Handshake(stream flight.FlightService_HandshakeServer) error {
	header, err := f.server.auth.HandshakeHeader(stream.Context())
	if err != nil {
		return err
	}
	if err := stream.SetHeader(header); err != nil {
		return err
	}
	return stream.Send(&flight.HandshakeResponse{})
}
