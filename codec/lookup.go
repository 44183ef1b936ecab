package codec

import (
	"bytes"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// maxRelationBody bounds the encoded rows of a relation, offsets and padding included.
const maxRelationBody = 8 * pushdown.MaxRelationBytes

func lookupToProto(l pushdown.Lookup) (*pb.Lookup, error) {
	p := &pb.Lookup{}
	for _, at := range l.On {
		p.On = append(p.On, uint32(at))
	}
	var err error
	if p.Keys, err = exprsToProto(l.Keys); err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "lookup")
	}
	if p.Columns, err = convert(l.Columns, columnToProto); err != nil {
		return nil, err
	}
	if l.Relation != nil {
		p.Header, p.Body, err = encodeRelation(l)
	}
	return p, err
}

// relationSchema is that of the rows of a lookup's relation.
func relationSchema(columns []pushdown.Column) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.Field()
	}
	return arrow.NewSchema(fields, nil)
}

func encodeRelation(l pushdown.Lookup) (header, body []byte, err error) {
	schema, rows := relationSchema(l.Columns), l.Relation.Rows()
	var e encoder
	if _, err := e.start(schema); err != nil {
		return nil, nil, err
	}
	batch := array.NewRecordBatch(schema, rows.Columns(), rows.NumRows())
	defer batch.Release()
	frames, err := e.encode(batch)
	if err == nil {
		err = e.close()
	}
	if err != nil {
		return nil, nil, err
	}
	defer releaseFrames(frames)
	return bytes.Clone(frames[0].data.DataHeader), bytes.Join(frames[0].parts, nil), nil
}

func lookupFromProto(p *pb.Lookup) (l pushdown.Lookup, err error) {
	for _, at := range p.GetOn() {
		l.On = append(l.On, int(min(at, pushdown.MaxColumns)))
	}
	if l.Keys, err = convert(p.GetKeys(), exprFromProto); err != nil {
		return l, status.Wrap(status.InvalidArgument, err, "lookup")
	}
	if l.Columns, err = convert(p.GetColumns(), columnFromProto); err != nil {
		return l, err
	}
	if len(p.GetHeader()) > 0 {
		l.Relation, err = decodeRelation(l.Columns, p.GetHeader(), p.GetBody())
	}
	return l, err
}

// decodeRelation reads rows of declared columns, which may be hostile.
func decodeRelation(columns []pushdown.Column, header, body []byte) (*pushdown.Relation, error) {
	if len(body) > maxRelationBody {
		return nil, status.New(status.ResourceExhausted, "a relation of %d bytes is too large to travel with a scan", len(body))
	}
	for _, c := range columns {
		if _, ok := pushdown.FamilyOf(c.DataType); !ok || c.DataType.ID() == arrow.DICTIONARY {
			return nil, status.New(status.InvalidArgument, "column %q of a relation has type %s", c.Name, c.DataType)
		}
	}
	d := decoder{mem: scratch()}
	defer d.close()
	schema := ipc.GetSchemaPayload(relationSchema(columns), scratch())
	defer schema.Release()
	first, err := frameOf(schema, nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.push(first); err != nil {
		return nil, err
	}
	kind, err := d.push(&frame{data: &flight.FlightData{DataHeader: header, DataBody: slices.Clip(body)}})
	if err != nil {
		return nil, err
	}
	if kind != ipc.MessageRecordBatch {
		return nil, status.New(status.DataLoss, "an Arrow message of type %s arrived in place of the rows of a relation", kind)
	}
	rows, err := d.batch()
	if err != nil {
		return nil, err
	}
	return pushdown.NewRelation(rows)
}
