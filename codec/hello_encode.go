package codec

import (
	"cmp"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// EncodeHelloRequest returns the body of a Hello action.
func EncodeHelloRequest(r HelloRequest) ([]byte, error) {
	return encodeMessage(&pb.HelloRequest{
		ProtocolMin: uint32(r.ProtocolMin), ProtocolLatest: uint32(r.ProtocolLatest), Coordinator: r.Coordinator,
	})
}

// DecodeHelloRequest reads the body of a Hello action.
func DecodeHelloRequest(data []byte) (HelloRequest, error) {
	var p pb.HelloRequest
	err := decodeMessage(data, &p)
	return HelloRequest{
		ProtocolMin: int(p.ProtocolMin), ProtocolLatest: int(p.ProtocolLatest), Coordinator: p.Coordinator,
	}, err
}

// EncodeHello returns the result of a Hello action.
func EncodeHello(h *Hello) ([]byte, error) {
	p := &pb.Hello{
		ProtocolMin: uint32(h.ProtocolMin), ProtocolLatest: uint32(h.ProtocolLatest),
		Name: h.Name, Epoch: h.Epoch, Version: h.Version, Advertise: h.Advertise,
		Limits: &pb.Limits{MaxBatchBytes: h.Limits.MaxBatchBytes, MaxScans: int64(h.Limits.MaxScans)},
	}
	for _, c := range h.Capabilities.Names() {
		p.Capabilities = append(p.Capabilities, string(c))
	}
	var err error
	if p.Tables, err = convert(h.Tables, tableToProto); err != nil {
		return nil, err
	}
	return encodeMessage(p)
}

func tableToProto(t Table) (*pb.Table, error) {
	parts, err := convert(t.Partitions, partitionToProto)
	return &pb.Table{
		Schema: t.Schema, Name: t.Name, ArrowSchema: encodeSchema(t.Arrow), Partitions: parts, Error: t.Err, Version: t.Version,
		Versioned:     t.Versioned,
		SchemaVersion: t.SchemaVersion, PromiseVersion: t.PromiseVersion,
	}, status.Wrap(status.InvalidArgument, err, "table %s.%s", t.Schema, t.Name)
}

func partitionToProto(p Partition) (*pb.Partition, error) {
	out := &pb.Partition{Id: p.ID, Rows: known(p.Rows), Bytes: known(p.Bytes)}
	for _, name := range slices.Sorted(maps.Keys(p.Columns)) {
		stats, err := statsToProto(name, p.Columns[name])
		if err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "statistics of column %q in partition %q", name, p.ID)
		}
		out.Columns = append(out.Columns, stats)
	}
	err := promiseToProto(out, &p.Promise)
	return out, status.Wrap(status.InvalidArgument, err, "the promise of partition %q", p.ID)
}

func statsToProto(name string, s ColumnStats) (*pb.ColumnStats, error) {
	out := &pb.ColumnStats{Name: name, Nulls: known(s.Nulls), Exact: s.Exact, Sketch: s.Sketch}
	if s.Distinct > 0 {
		out.Distinct = &s.Distinct
	}
	var err error
	if s.Min != nil {
		out.Min, err = literalToProto(s.Min)
	}
	if s.Max != nil && err == nil {
		out.Max, err = literalToProto(s.Max)
	}
	return out, err
}

// known is nil for an unknown count.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// count is -1 for an absent count.
func count(n *int64) int64 {
	if n == nil || *n < 0 {
		return -1
	}
	return *n
}

// DecodeHello reads the result of a Hello action.
func DecodeHello(data []byte) (*Hello, error) {
	var p pb.Hello
	if err := decodeMessage(data, &p); err != nil {
		return nil, err
	}
	h := &Hello{
		ProtocolMin: int(p.ProtocolMin), ProtocolLatest: int(p.ProtocolLatest),
		Name: p.Name, Epoch: p.Epoch, Version: p.Version, Advertise: p.Advertise,
		Limits: Limits{MaxBatchBytes: p.GetLimits().GetMaxBatchBytes(), MaxScans: int(p.GetLimits().GetMaxScans())},
	}
	var names []pushdown.Capability
	for _, c := range p.Capabilities {
		names = append(names, pushdown.Capability(c))
	}
	h.Capabilities = pushdown.NewCapabilities(names...)
	var err error
	h.Tables, err = convert(p.Tables, tableFromProto)
	return h, err
}

// tableFromProto decodes a table. One whose schema cannot be read is unusable,
// the others of the scanner are not.
func tableFromProto(p *pb.Table) (Table, error) {
	t := Table{Schema: p.GetSchema(), Name: p.GetName(), Err: p.GetError(), Version: p.GetVersion(), Versioned: p.GetVersioned(),
		SchemaVersion: p.GetSchemaVersion(), PromiseVersion: p.GetPromiseVersion()}
	var err error
	if t.Arrow, err = decodeSchema(p.GetArrowSchema()); err != nil {
		t.Err = cmp.Or(t.Err, err.Error())
	}
	if t.Arrow == nil && t.Err == "" {
		t.Err = "the scanner announced no schema"
	}
	t.Partitions, err = convert(p.GetPartitions(), partitionFromProto)
	return t, err
}

func partitionFromProto(p *pb.Partition) (Partition, error) {
	out := Partition{ID: p.GetId(), Rows: -1, Bytes: -1}
	if p != nil {
		out.Rows, out.Bytes = count(p.Rows), count(p.Bytes)
	}
	for _, c := range p.GetColumns() {
		if out.Columns == nil {
			out.Columns = make(map[string]ColumnStats)
		}
		out.Columns[c.GetName()] = statsFromProto(c)
	}
	out.Promise = promiseFromProto(p)
	return out, nil
}

// statsFromProto decodes statistics; bounds that this version cannot read are
// unknown.
func statsFromProto(p *pb.ColumnStats) ColumnStats {
	return ColumnStats{Min: bound(p.GetMin()), Max: bound(p.GetMax()), Nulls: count(p.Nulls), Exact: p.GetExact(),
		Distinct: max(p.GetDistinct(), 0), Sketch: p.GetSketch()}
}

func bound(p *pb.Literal) scalar.Scalar {
	if p == nil {
		return nil
	}
	v, err := literalFromProto(p)
	if err != nil {
		return nil
	}
	return v
}
