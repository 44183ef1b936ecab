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
// and goes with it. It is a gRPC stats.Handler because that is where
// connections are seen to begin and end.
type sessions struct{}

type sessionKey struct{}

// connection holds the session of one connection; CloseSession replaces it.
type connection struct {
	mu      sync.Mutex
	session *query.Session
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

// session returns the session of the call's connection.
func (s *Server) session(ctx context.Context) *query.Session {
	conn, ok := ctx.Value(sessionKey{}).(*connection)
	if !ok {
		return query.NewSession()
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.session
}

// SetSessionOptions sets the named settings; each name that is unknown or
// whose value is refused is reported, the others take effect.
func (s *Server) SetSessionOptions(ctx context.Context, req *flight.SetSessionOptionsRequest) (*flight.SetSessionOptionsResult, error) {
	sess := s.session(ctx)
	failed := map[string]*flight.SetSessionOptionsResultError{}
	for name, value := range req.GetSessionOptions() {
		if code := setOption(sess, name, value); code != flight.SetSessionOptionsResultErrorUnspecified {
			failed[name] = &flight.SetSessionOptionsResultError{Value: code}
		}
	}
	return &flight.SetSessionOptionsResult{Errors: failed}, nil
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
	set := s.session(ctx).Settings()
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

// CloseSession forgets what the connection has set.
func (s *Server) CloseSession(ctx context.Context, _ *flight.CloseSessionRequest) (*flight.CloseSessionResult, error) {
	if conn, ok := ctx.Value(sessionKey{}).(*connection); ok {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		conn.session = query.NewSession()
	}
	return &flight.CloseSessionResult{Status: flight.CloseSessionResultClosed}, nil
}
