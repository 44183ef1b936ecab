package engine

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// session is a connection of a shadow with its two statements prepared: the one
// that parses and the one that plans.
type session struct {
	shadow *shadow
	conn   duckdb.Connection
	parse  duckdb.PreparedStatement
	plan   duckdb.PreparedStatement

	mu          sync.Mutex
	idle        bool // given back: an interrupt must not hit the next statement
	interrupted bool
}

func newSession(sh *shadow) (*session, error) {
	conn, err := connect(sh.db)
	if err != nil {
		return nil, err
	}
	s := &session{shadow: sh, conn: conn}
	if err := s.setUp(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) setUp() (err error) {
	if err := exec(s.conn, "USE "+catalogName); err != nil {
		return err
	}
	if s.parse, err = prepare(s.conn, "SELECT json_serialize_sql(?::VARCHAR)::VARCHAR"); err != nil {
		return err
	}
	s.plan, err = prepare(s.conn, "SELECT json_serialize_plan(?::VARCHAR, optimize := true, skip_null := true)::VARCHAR")
	return err
}

func (s *session) close() {
	duckdb.DestroyPrepare(&s.parse)
	duckdb.DestroyPrepare(&s.plan)
	duckdb.Disconnect(&s.conn)
}

// interrupt stops what the session runs, and marks it for closing.
func (s *session) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.idle {
		s.interrupted = true
		duckdb.Interrupt(s.conn)
	}
}

// take begins the use of an idle session.
func (s *session) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = false
}

// retire ends the session's use and says whether it must be closed.
func (s *session) retire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = !s.interrupted
	return s.interrupted
}

// bind runs the three steps: parse and check, prepare for the names and types,
// and plan.
func (s *session) bind(sql string) (*Bound, error) {
	if err := s.check(sql); err != nil {
		return nil, err
	}
	bound, err := s.describe(sql)
	if err != nil || len(bound.Params) > 0 {
		return bound, err
	}
	text, err := scalar(s.plan, sql)
	if err != nil {
		return nil, err
	}
	bound.PlanJSON = []byte(text)
	if reply := (serialized{}); !bytes.HasPrefix(bound.PlanJSON, []byte(`{"error":false`)) {
		if err := json.Unmarshal(bound.PlanJSON, &reply); err != nil {
			return nil, status.Wrap(status.Internal, err, "read the plan")
		}
		return nil, s.replyError(sql, reply)
	}
	return bound, nil
}

// serialized is the envelope of DuckDB's JSON.
type serialized struct {
	Error     bool              `json:"error"`
	Type      string            `json:"error_type"`
	Message   string            `json:"error_message"`
	Position  string            `json:"position"`
	Statement []json.RawMessage `json:"statements"`
}

// check parses a statement and accepts exactly one SELECT-like statement that
// calls no table function with effects.
func (s *session) check(sql string) error {
	text, err := scalar(s.parse, sql)
	if err != nil {
		return err
	}
	var reply serialized
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		if strings.Contains(text, ":Infinity") || strings.Contains(text, ":-Infinity") {
			return status.New(status.InvalidArgument, "the statement has a number that is out of the range of DOUBLE")
		}
		return status.Wrap(status.Internal, err, "read the parsed statement")
	}
	if reply.Error {
		return s.parseError(sql, reply)
	}
	if n := len(reply.Statement); n != 1 {
		return status.New(status.InvalidArgument, "expected one statement, found %d", n)
	}
	if err := checkFolding(reply.Statement[0]); err != nil {
		return err
	}
	if err := checkShape(reply.Statement[0]); err != nil {
		return err
	}
	if err := checkStructures(reply.Statement[0]); err != nil {
		return err
	}
	return s.shadow.denied.check(reply.Statement[0])
}

func (s *session) parseError(sql string, reply serialized) error {
	if reply.Type != "not implemented" || !strings.HasPrefix(reply.Message, "Only SELECT") {
		return s.replyError(sql, reply)
	}
	switch kind := firstWord(sql); kind {
	case "":
		return status.New(status.InvalidArgument, "the statement is empty")
	case "PIVOT", "UNPIVOT", "FROM", "WITH", "SELECT":
		return status.New(status.Unimplemented, "a PIVOT needs its values listed: PIVOT … ON column IN (…)")
	default:
		return status.New(status.Unimplemented, "%s statements are not supported here: the server runs one SELECT-like statement at a time", kind)
	}
}

// replyError turns an error in DuckDB's JSON into a typed one with its position.
func (s *session) replyError(sql string, reply serialized) error {
	if err := s.shadow.brokenTable(reply.Message); err != nil {
		return err
	}
	prefix, ok := typeNames[reply.Type]
	if !ok {
		prefix = reply.Type + " error"
	}
	text := prefix + ": " + reply.Message
	if at, err := strconv.Atoi(reply.Position); err == nil && at >= 0 && at <= len(sql) {
		line := 1 + strings.Count(sql[:at], "\n")
		column := at - strings.LastIndexByte(sql[:at], '\n')
		text += " (line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column) + ")"
	}
	return duckError(text)
}

// describe prepares the statement and reads its parameters and result columns.
func (s *session) describe(sql string) (*Bound, error) {
	stmt, err := prepare(s.conn, sql)
	if err != nil {
		return nil, s.prepareError(sql, err)
	}
	defer duckdb.DestroyPrepare(&stmt)
	bound := &Bound{}
	for i := range duckdb.NParams(stmt) {
		bound.Params = append(bound.Params, duckdb.ParameterName(stmt, i+1))
		bound.ParamTypes = append(bound.ParamTypes, paramType(stmt, i+1))
	}
	columns, err := preparedColumns(stmt, len(bound.Params) > 0)
	if err != nil || columns == nil {
		return bound, err
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
		bound.SQLTypes = append(bound.SQLTypes, c.sql)
	}
	bound.Schema = arrow.NewSchema(fields, nil)
	return bound, nil
}

// paramType reads the type that DuckDB infers for a parameter; the zero value
// when it infers none that can be carried.
func paramType(stmt duckdb.PreparedStatement, at duckdb.IdxT) ParamType {
	t := duckdb.ParamLogicalType(stmt, at)
	defer duckdb.DestroyLogicalType(&t)
	if t.Ptr == nil {
		return ParamType{}
	}
	desc, err := describeType(t)
	if id := duckdb.GetTypeId(t); err != nil || id == duckdb.TypeSQLNull {
		return ParamType{}
	}
	return ParamType{Arrow: desc.arrow, SQL: desc.sql}
}

// prepareError prefers the error of the planner, which has a position.
func (s *session) prepareError(sql string, err error) error {
	if broken := s.shadow.brokenTable(err.Error()); broken != nil {
		return broken
	}
	text, planErr := scalar(s.plan, sql)
	var reply serialized
	if planErr != nil || json.Unmarshal([]byte(text), &reply) != nil || !reply.Error || reply.Type == "internal" {
		return err
	}
	return s.replyError(sql, reply)
}

// resultColumn is one column of a prepared statement.
type resultColumn struct {
	field arrow.Field
	sql   string
}

// preparedColumns reads the result columns of a prepared statement; nil when
// openTypes allows types to be unknown and one is.
func preparedColumns(stmt duckdb.PreparedStatement, openTypes bool) ([]resultColumn, error) {
	columns := make([]resultColumn, duckdb.PreparedStatementColumnCount(stmt))
	for i := range columns {
		at := duckdb.IdxT(i)
		t := duckdb.PreparedStatementColumnLogicalType(stmt, at)
		if id := duckdb.GetTypeId(t); openTypes && (t.Ptr == nil || id == duckdb.TypeInvalid || id == duckdb.TypeAny) {
			duckdb.DestroyLogicalType(&t)
			return nil, nil
		}
		desc, err := describeType(t)
		duckdb.DestroyLogicalType(&t)
		name := duckdb.PreparedStatementColumnName(stmt, at)
		if err != nil {
			return nil, status.Wrap(status.Unimplemented, err, "result column %q", name)
		}
		columns[i] = resultColumn{arrow.Field{Name: name, Type: desc.arrow, Nullable: true}, desc.sql}
	}
	return columns, nil
}
