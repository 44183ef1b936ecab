package scanner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// service is the Flight service of a scanner.
type service struct {
	flight.BaseFlightServer
	*Scanner
}

// ticket is what a plain Flight client reads: its text is a table name, or this
// as JSON.
type ticket struct {
	// Table is "name" or "schema.name".
	Table string `json:"table"`
	// Partitions are ids; none means all.
	Partitions []string `json:"partitions,omitempty"`
	// Columns are names, in order; none means all.
	Columns []string `json:"columns,omitempty"`
}

func parseTicket(text []byte) (ticket, error) {
	text = bytes.TrimSpace(text)
	if !bytes.HasPrefix(text, []byte("{")) {
		return ticket{Table: string(text)}, nil
	}
	var t ticket
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil || d.More() {
		return t, status.Wrap(status.InvalidArgument, errors.Join(err, trailing(d)),
			`the ticket must be a table name or {"table": …, "partitions": […], "columns": […]}`)
	}
	return t, nil
}

func trailing(d *json.Decoder) error {
	if d.More() {
		return errors.New("text after the JSON object")
	}
	return nil
}

func fromDescriptor(d *flight.FlightDescriptor) (ticket, error) {
	switch d.GetType() {
	case flight.DescriptorPATH:
		return ticket{Table: strings.Join(d.GetPath(), ".")}, nil
	case flight.DescriptorCMD:
		return parseTicket(d.GetCmd())
	default:
		return ticket{}, status.New(status.InvalidArgument, "the descriptor is neither a path nor a command")
	}
}

// selection is a ticket that fits a table.
type selection struct {
	ticket ticket
	table  *table
	full   *arrow.Schema
	spec   pushdown.Spec
	rows   int64 // -1 unknown
}

// selectRows resolves a ticket.
func (s *Scanner) selectRows(ctx context.Context, k ticket) (*selection, error) {
	t, err := s.table(k.Table)
	if err != nil {
		return nil, err
	}
	schema, err := s.schema(ctx, t)
	if err != nil {
		return nil, err
	}
	sel := &selection{ticket: k, table: t, full: schema, spec: pushdown.Spec{Table: t.name, Limit: pushdown.NoLimit}}
	sel.ticket.Table = t.name
	if sel.spec.Columns, err = chooseColumns(schema, k.Columns); err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "table %s", t.name)
	}
	return sel, s.choosePartitions(ctx, sel)
}

func chooseColumns(schema *arrow.Schema, names []string) ([]pushdown.Column, error) {
	if len(names) == 0 {
		for _, f := range schema.Fields() {
			names = append(names, f.Name)
		}
	}
	columns := make([]pushdown.Column, len(names))
	for i, n := range names {
		fields, ok := schema.FieldsByName(n)
		if !ok {
			return nil, status.New(status.InvalidArgument, "no column %q", n)
		}
		columns[i] = pushdown.Column{Name: n, DataType: fields[0].Type}
	}
	return columns, nil
}

func (s *Scanner) choosePartitions(ctx context.Context, sel *selection) error {
	all, err := s.partitions(ctx, sel.table)
	if err != nil {
		return err
	}
	rows := map[string]int64{}
	for _, p := range all {
		rows[p.ID] = p.Rows
	}
	ids := sel.ticket.Partitions
	if len(ids) == 0 {
		for _, p := range all {
			ids = append(ids, p.ID)
		}
	}
	for _, id := range ids {
		n, ok := rows[id]
		switch {
		case !ok:
			return status.New(status.NotFound, "table %s has no partition %q", sel.table.name, id)
		case n < 0 || sel.rows < 0:
			sel.rows = -1
		default:
			sel.rows += n
		}
	}
	sel.spec.Partitions = ids
	return nil
}

// info describes a selection; one ticket reads all of it.
func (sel *selection) info(s *Scanner, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	text, err := json.Marshal(sel.ticket)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "ticket")
	}
	return &flight.FlightInfo{
		Schema:           flight.SerializeSchema(sel.spec.OutputSchema(), s.cfg.Alloc),
		FlightDescriptor: d,
		Endpoint:         []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: text}}},
		TotalRecords:     sel.rows,
		TotalBytes:       -1,
	}, nil
}

// ListFlights lists the tables that can be used.
func (s *service) ListFlights(_ *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	for _, t := range s.tables {
		sel, err := s.selectRows(stream.Context(), ticket{Table: t.name})
		if err != nil {
			continue // Hello says why it is unusable
		}
		info, err := sel.info(s.Scanner, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{t.Schema, t.Name}})
		if err != nil {
			return grpcstatus.ToGRPC(err)
		}
		if err := stream.Send(info); err != nil {
			return err
		}
	}
	return nil
}

// GetFlightInfo describes a table or a part of it.
func (s *service) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	sel, err := s.resolve(ctx, d)
	if err != nil {
		return nil, grpcstatus.ToGRPC(err)
	}
	info, err := sel.info(s.Scanner, d)
	return info, grpcstatus.ToGRPC(err)
}

// GetSchema returns the schema of a table or of a part of it.
func (s *service) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	sel, err := s.resolve(ctx, d)
	if err != nil {
		return nil, grpcstatus.ToGRPC(err)
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(sel.spec.OutputSchema(), s.cfg.Alloc)}, nil
}

func (s *Scanner) resolve(ctx context.Context, d *flight.FlightDescriptor) (*selection, error) {
	k, err := fromDescriptor(d)
	if err != nil {
		return nil, err
	}
	return s.selectRows(ctx, k)
}

// DoGet streams rows.
func (s *service) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	leave, err := s.enter()
	if err != nil {
		return grpcstatus.ToGRPC(err)
	}
	defer leave()
	mode, read := "flight", s.download
	if sealed, ok := codec.DirectPart(t.GetTicket()); ok {
		mode, read = "direct", func(_ []byte, stream flight.FlightService_DoGetServer) (int64, error) {
			return s.direct(sealed, stream)
		}
	}
	end := s.metrics.begin(mode)
	rows, err := read(t.GetTicket(), stream)
	end(rows, err)
	return grpcstatus.ToGRPC(err)
}

func (s *service) download(text []byte, stream flight.FlightService_DoGetServer) (rows int64, err error) {
	k, err := parseTicket(text)
	if err != nil {
		return 0, err
	}
	ctx, cancel := s.scanContext(stream.Context())
	defer cancel(nil)
	sel, err := s.selectRows(ctx, k)
	if err != nil {
		return 0, err
	}
	out, err := newDownload(stream, sel.spec.OutputSchema(), s.Scanner)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.out.Close()) }()
	if len(sel.spec.Partitions) == 0 {
		return 0, nil
	}
	j, err := s.newJob(ctx, sel.table, sel.table.Source, sel.full, sel.spec, out)
	if err != nil {
		return 0, err
	}
	return j.run(ctx)
}
