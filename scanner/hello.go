package scanner

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
)

// ListActions names the actions.
func (s *service) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	return stream.Send(&flight.ActionType{Type: codec.HelloAction, Description: "The handshake of a Tributary coordinator."})
}

// DoAction answers Hello.
func (s *service) DoAction(action *flight.Action, stream flight.FlightService_DoActionServer) error {
	if action.GetType() != codec.HelloAction {
		return grpcstatus.ToGRPC(status.New(status.InvalidArgument, "unknown action %q; this scanner knows %q", action.GetType(), codec.HelloAction))
	}
	body, err := s.answer(stream.Context(), action.GetBody())
	if err != nil {
		return grpcstatus.ToGRPC(err)
	}
	return stream.Send(&flight.Result{Body: body})
}

func (s *Scanner) answer(ctx context.Context, body []byte) ([]byte, error) {
	request, err := codec.DecodeHelloRequest(body)
	if err != nil {
		return nil, err
	}
	if request.ProtocolMin > codec.ProtocolLatest || request.ProtocolLatest < codec.ProtocolMin {
		return nil, status.New(status.FailedPrecondition,
			"scanner %q speaks the protocol versions %d to %d, the coordinator %d to %d: upgrade the older one",
			s.cfg.Name, codec.ProtocolMin, codec.ProtocolLatest, request.ProtocolMin, request.ProtocolLatest)
	}
	hello, err := s.Hello(ctx)
	if err != nil {
		return nil, err
	}
	return codec.EncodeHello(hello)
}

// Hello describes the scanner and looks at its tables again. Version rises
// whenever what it says about them differs from the last time.
func (s *Scanner) Hello(ctx context.Context) (*codec.Hello, error) {
	hello := &codec.Hello{
		ProtocolMin: codec.ProtocolMin, ProtocolLatest: codec.ProtocolLatest,
		Name: s.cfg.Name, Epoch: s.epoch, Capabilities: s.caps,
		Limits: codec.Limits{MaxBatchBytes: codec.MaxBatchBytes}, Advertise: s.cfg.Advertise,
	}
	s.catalog.Lock()
	defer s.catalog.Unlock()
	hello.Tables = s.describeAll(ctx)
	limitStatistics(hello.Tables)
	limitSketches(hello.Tables)
	if err := ctx.Err(); err != nil {
		return nil, status.Wrap(status.Canceled, err, "hello")
	}
	body, err := codec.EncodeHello(hello)
	if err != nil {
		return nil, err
	}
	if string(body) != s.seen {
		s.seen = string(body)
		s.version++
	}
	hello.Version = s.version
	return hello, nil
}

// describeAll describes the tables, several at once: a source may have to look at
// files for the first time.
func (s *Scanner) describeAll(ctx context.Context) []codec.Table {
	out := make([]codec.Table, len(s.tables))
	var group errgroup.Group
	group.SetLimit(s.cfg.Workers)
	for i, t := range s.tables {
		group.Go(func() error { out[i] = s.describe(ctx, t); return nil })
	}
	_ = group.Wait()
	return out
}

// describe never fails: a table that cannot be used says why. It is logged when
// that changes, not at every Hello.
func (s *Scanner) describe(ctx context.Context, t *table) codec.Table {
	out := codec.Table{Schema: t.Schema, Name: t.Name}
	schema, err := s.schema(ctx, t)
	if err == nil {
		schema, err = carried(schema)
	}
	if err == nil {
		out.Arrow, out.SchemaVersion = schema, schemaVersion(schema)
		err = s.describePartitions(ctx, t, &out)
	}
	if err != nil {
		out.Err = err.Error()
	}
	if out.Err != t.fault {
		t.fault = out.Err
		s.cfg.Logger.Warn().Str("table", t.name).Str("fault", out.Err).Bool("usable", err == nil).Msg("table changed")
	}
	return out
}

// carried is the schema that coordinators are told. It refuses the types that no
// peer reads out of a message.
func carried(schema *arrow.Schema) (*arrow.Schema, error) {
	fields := schema.Fields()
	for i, f := range fields {
		fields[i].Type = widen.Carried(f.Type)
		if hasUnion(f.Type) {
			return nil, status.New(status.Unimplemented, "column %q: values of type %s cannot be carried; leave it out or make it a struct", f.Name, f.Type)
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

func hasUnion(t arrow.DataType) bool {
	if id := t.ID(); id == arrow.DENSE_UNION || id == arrow.SPARSE_UNION {
		return true
	}
	nested, ok := t.(arrow.NestedType)
	return ok && slices.ContainsFunc(nested.Fields(), func(f arrow.Field) bool { return hasUnion(f.Type) })
}

func (s *Scanner) describePartitions(ctx context.Context, t *table, out *codec.Table) error {
	partitions, err := s.partitions(ctx, t)
	if err != nil {
		return err
	}
	out.Version, out.Versioned = tableVersion(partitions)
	out.PromiseVersion = promiseVersion(partitions)
	for _, p := range partitions {
		if err := checkPromise(&p, out.Arrow); err != nil {
			return status.Wrap(status.FailedPrecondition, err, "table %s of scanner %q, partition %q", t.name, s.cfg.Name, p.ID)
		}
		out.Partitions = append(out.Partitions, codec.Partition{
			ID: p.ID, Rows: p.Rows, Bytes: p.Bytes, Columns: statistics(&p, out.Arrow), Promise: p.Promise,
		})
	}
	return nil
}

func (s *Scanner) partitions(ctx context.Context, t *table) (out []Partition, err error) {
	defer s.recovered(t, &err)
	out, err = t.Source.Partitions(ctx)
	return out, status.Wrap(status.Internal, err, "table %s of scanner %q", t.name, s.cfg.Name)
}
