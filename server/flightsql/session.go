package flightsql

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/flight"
	flightpb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc/stats"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// sessions binds a session to each connection: it is made with the connection
// and goes with it. A client that keeps cookies carries its session from the
// first change on, see cookie.go. It is a gRPC stats.Handler because that is where
// connections are seen to begin and end.
type sessions struct{}

type sessionKey struct{}

// connection holds the session of one connection; CloseSession replaces it.
type connection struct {
	mu      sync.Mutex
	session *query.Session
	// offer: the client has not been sent the cookie of the present session in
	// the answer of a unary call. Some clients do not read it from a stream's.
	offer bool
}

func newSessions() *sessions { return &sessions{} }

// TagConn puts a fresh session into the context of a new connection.
func (*sessions) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, sessionKey{}, &connection{session: query.NewSession()})
}

// HandleConn has nothing to do: the session goes with the context.
func (*sessions) HandleConn(context.Context, stats.ConnStats) {}

// TagRPC leaves the context as it is.
func (*sessions) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC has nothing to do.
func (*sessions) HandleRPC(context.Context, stats.RPCStats) {}

// session returns the session of the call: that of its cookie or, without one,
// of its connection.
func (s *Server) session(ctx context.Context) (*query.Session, error) {
	if sess, err := s.cookies.read(ctx); sess != nil || err != nil {
		return sess, err
	}
	conn, ok := ctx.Value(sessionKey{}).(*connection)
	if !ok {
		return query.NewSession(), nil
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.session, nil
}

// apply carries out a SET and the like in the call's session.
func (s *Server) apply(ctx context.Context, cmd query.Command) error {
	sess, err := s.session(ctx)
	if err != nil {
		return err
	}
	if err := s.service.Apply(sess, cmd); err != nil || !cmd.ChangesSession() {
		return err
	}
	return s.changed(ctx, sess)
}

// changed sends the client the cookie of its session.
func (s *Server) changed(ctx context.Context, sess *query.Session) error {
	if conn, ok := ctx.Value(sessionKey{}).(*connection); ok {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.offer = conn.session == sess
	}
	return s.cookies.send(ctx, sess)
}

// offer sends it again in the answer of a unary call.
func (s *Server) offer(ctx context.Context) error {
	conn, ok := ctx.Value(sessionKey{}).(*connection)
	if !ok {
		return nil
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if !conn.offer || s.cookies.sent(ctx) != "" {
		return nil
	}
	conn.offer = false
	return s.cookies.send(ctx, conn.session)
}

// SetSessionOptions sets the named settings; each name that is unknown or
// whose value is refused is reported, the others take effect.
func (s *Server) SetSessionOptions(ctx context.Context, req *flight.SetSessionOptionsRequest) (*flight.SetSessionOptionsResult, error) {
	sess, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	failed := map[string]*flight.SetSessionOptionsResultError{}
	for name, value := range req.GetSessionOptions() {
		if code := setOption(sess, name, value); code != flight.SetSessionOptionsResultErrorUnspecified {
			failed[name] = &flight.SetSessionOptionsResultError{Value: code}
		}
	}
	return &flight.SetSessionOptionsResult{Errors: failed}, s.changed(ctx, sess)
}

func setOption(sess *query.Session, name string, value *flight.SessionOptionValue) flightpb.SetSessionOptionsResult_ErrorValue {
	set := sess.Settings()
	if _, err := set.Get(name); err != nil {
		return flight.SetSessionOptionsResultErrorInvalidName
	}
	text, ok := optionText(value)
	if !ok {
		_ = sess.Reset(name) // the name was just checked
		return flight.SetSessionOptionsResultErrorUnspecified
	}
	if err := sess.Set(name, text); err != nil {
		return flight.SetSessionOptionsResultErrorInvalidValue
	}
	return flight.SetSessionOptionsResultErrorUnspecified
}

// optionText is the text of an option's value; false for an unset value, which
// asks for the default.
func optionText(value *flight.SessionOptionValue) (string, bool) {
	switch v := value.GetOptionValue().(type) {
	case *flightpb.SessionOptionValue_StringValue:
		return v.StringValue, true
	case *flightpb.SessionOptionValue_BoolValue:
		if v.BoolValue {
			return "on", true
		}
		return "off", true
	case *flightpb.SessionOptionValue_Int64Value:
		return strconv.FormatInt(v.Int64Value, 10), true
	case *flightpb.SessionOptionValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'f', -1, 64), true
	case *flightpb.SessionOptionValue_StringListValue_:
		return strings.Join(v.StringListValue.GetValues(), ","), true
	}
	return "", false
}

// GetSessionOptions returns every setting as text.
func (s *Server) GetSessionOptions(ctx context.Context, _ *flight.GetSessionOptionsRequest) (*flight.GetSessionOptionsResult, error) {
	sess, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	set := sess.Settings()
	options := map[string]*flight.SessionOptionValue{}
	for _, name := range query.SettingNames() {
		text, err := set.Get(name)
		if err != nil {
			return nil, err
		}
		value, err := flight.NewSessionOptionValue(text)
		if err != nil {
			return nil, status.Wrap(status.Internal, err, "cannot encode setting %s", name)
		}
		options[name] = &value
	}
	return &flight.GetSessionOptionsResult{SessionOptions: options}, nil
}

// CloseSession forgets what the session has set.
func (s *Server) CloseSession(ctx context.Context, _ *flight.CloseSessionRequest) (*flight.CloseSessionResult, error) {
	s.cookies.withdraw(ctx)
	if conn, ok := ctx.Value(sessionKey{}).(*connection); ok {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.session, conn.offer = query.NewSession(), false
	}
	return &flight.CloseSessionResult{Status: flight.CloseSessionResultClosed}, nil
}
