package flightsql

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/pushdown/status"
)

// DoPutPreparedStatementQuery binds values to the parameters of a statement.
// It answers with a new handle that carries them, for any coordinator, and
// keeps them under the old one, for clients that go on with that.
func (s *Server) DoPutPreparedStatementQuery(ctx context.Context, cmd flightsql.PreparedStatementQuery, values flight.MessageReader, _ flight.MetadataWriter) ([]byte, error) {
	h, err := s.openHandle(ctx, cmd.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	h.Rows, err = s.service.Values(ctx, h.SQL, h.Settings, batches(values))
	if err != nil {
		return nil, err
	}
	s.bound.put(h.ID, h.Rows, 1+weight(h.Rows))
	h.ID = newID()
	return s.handles.prepared(ctx, &h)
}

// batches reads what a client sends, to io.EOF. A stream whose schema has no
// field carries nothing, whatever its row count: JDBC sends such.
func batches(values flight.MessageReader) func() (arrow.RecordBatch, error) {
	return func() (arrow.RecordBatch, error) {
		for values.Next() {
			if batch := values.RecordBatch(); batch.NumCols() > 0 {
				return batch, nil
			}
		}
		if err := values.Err(); err != nil && err != io.EOF {
			return nil, status.Wrap(status.InvalidArgument, err, "cannot read the values of the parameters")
		}
		return nil, io.EOF
	}
}

// openHandle decodes the handle of a prepared statement that was not closed
// here; another coordinator would still take it.
func (s *Server) openHandle(ctx context.Context, raw []byte) (handle, error) {
	h, err := s.handles.decode(ctx, raw)
	if err == nil && s.closed.get(h.ID) {
		return handle{}, status.New(status.NotFound, "the prepared statement is closed; prepare it again")
	}
	return h, err
}

// boundHandle decodes a handle, with the values that were last bound under its
// id: a client that binds again may not have taken the new handle.
func (s *Server) boundHandle(ctx context.Context, raw []byte) (handle, error) {
	h, err := s.openHandle(ctx, raw)
	if err != nil {
		return handle{}, err
	}
	if rows := s.bound.get(h.ID); rows != nil {
		h.Rows = rows
	}
	return h, nil
}

func weight(rows [][]string) int {
	n := 0
	for _, row := range rows {
		for _, v := range row {
			n += len(v) + 16
		}
	}
	return n
}
