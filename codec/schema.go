package codec

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// checkRows compares the schema of rows of the given mode with spec: results
// must be exactly its output, raw rows must have at least its input.
func checkRows(spec *pushdown.Spec, got *arrow.Schema, mode Mode) error {
	if mode == Raw {
		return checkInput(spec, got)
	}
	if mode != ModeOf(spec) {
		return status.New(status.DataLoss, "%s rows arrived, %s rows were wanted", mode, ModeOf(spec))
	}
	want := spec.OutputSchema()
	if got.NumFields() != want.NumFields() {
		return status.New(status.DataLoss, "rows of %d columns arrived, %d were wanted", got.NumFields(), want.NumFields())
	}
	for i, w := range want.Fields() {
		if err := checkField(got.Field(i), w.Name, w.Type); err != nil {
			return err
		}
	}
	return nil
}

func checkInput(spec *pushdown.Spec, got *arrow.Schema) error {
	for _, c := range spec.InputColumns() {
		fields, ok := got.FieldsByName(c.Name)
		if !ok {
			return status.New(status.DataLoss, "raw rows arrived without column %q", c.Name)
		}
		if err := checkField(fields[0], c.Name, c.DataType); err != nil {
			return err
		}
	}
	return nil
}

// checkField compares a column with what was asked for. Whether values come as a
// dictionary is the sender's choice.
func checkField(got arrow.Field, name string, dt arrow.DataType) error {
	if got.Name != name || !arrow.TypeEqual(pushdown.ValueType(got.Type), pushdown.ValueType(dt)) {
		return status.New(status.DataLoss, "column %q of type %s arrived in place of %q of type %s", got.Name, got.Type, name, dt)
	}
	return nil
}

// encodeSchema is an IPC stream with nothing but the schema; nil stays empty.
func encodeSchema(s *arrow.Schema) []byte {
	if s == nil {
		return nil
	}
	return flight.SerializeSchema(s, scratch())
}

// decodeSchema reads encodeSchema's result; empty is nil. Only the first message
// is read, and lengths are checked before anything is allocated.
func decodeSchema(data []byte) (*arrow.Schema, error) {
	if len(data) == 0 {
		return nil, nil
	}
	header, err := firstMessage(data)
	if err != nil {
		return nil, err
	}
	var d decoder
	defer d.close()
	d.mem = scratch()
	kind, err := d.push(&frame{data: &flight.FlightData{DataHeader: header}})
	if err == nil && kind != ipc.MessageSchema {
		err = status.New(status.DataLoss, "an Arrow message of type %s arrived in place of a schema", kind)
	}
	return d.schema(), err
}

// firstMessage is the metadata of the first message of an IPC stream.
func firstMessage(data []byte) ([]byte, error) {
	const prefix = 8 // continuation marker and length
	if len(data) < prefix || binary.LittleEndian.Uint32(data) != math.MaxUint32 {
		return nil, status.New(status.DataLoss, "an Arrow schema of %d bytes does not begin an IPC stream", len(data))
	}
	n := int64(binary.LittleEndian.Uint32(data[4:]))
	if n > int64(len(data)-prefix) {
		return nil, status.New(status.DataLoss, "a truncated Arrow schema arrived: %d of %d bytes", len(data)-prefix, n)
	}
	return data[prefix : prefix+n], nil
}
