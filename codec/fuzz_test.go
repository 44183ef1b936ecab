package codec

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// seed adds the golden messages whose names match.
func seed(f *testing.F, pattern string) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join(goldenDir, pattern))
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
}

func requireTyped(t *testing.T, err error) {
	t.Helper()
	var own *status.Error
	require.True(t, err == nil || errors.As(err, &own), "%T: %v", err, err)
}

// FuzzOpen decodes what a coordinator sends; what decodes must encode to the
// same thing again.
func FuzzOpen(f *testing.F) {
	seed(f, "open_*.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		req, err := decodeOpen(data)
		requireTyped(t, err)
		if err != nil {
			return
		}
		again, err := encodeOpen(req)
		require.NoError(t, err)
		second, err := decodeOpen(again)
		require.NoError(t, err)
		require.Equal(t, req.Spec.String(), second.Spec.String())
	})
}

// FuzzHello decodes what a scanner says about itself.
func FuzzHello(f *testing.F) {
	seed(f, "hello.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := DecodeHello(data)
		requireTyped(t, err)
		if err == nil {
			_, err = EncodeHello(h)
			require.NoError(t, err)
		}
	})
}

// FuzzHelloRequest decodes what a coordinator says about itself.
func FuzzHelloRequest(f *testing.F) {
	seed(f, "hello_request.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := DecodeHelloRequest(data)
		requireTyped(t, err)
	})
}

// FuzzControl gives a session any control message.
func FuzzControl(f *testing.F) {
	seed(f, "*.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Session{credit: newCredit(0), enough: make(chan struct{}), filters: make(chan FilterUpdate, 1)}
		requireTyped(t, s.control(controlFrame(data)))
	})
}

// FuzzFlightData compares the own reader of FlightData with protobuf's.
func FuzzFlightData(f *testing.F) {
	for _, d := range []*flight.FlightData{
		{}, {DataHeader: []byte("header"), AppMetadata: []byte("meta"), DataBody: bytes.Repeat([]byte("body"), 500)},
		{FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(ScanDescriptor)}},
	} {
		data, err := proto.Marshal(d)
		require.NoError(f, err)
		f.Add(data, uint16(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		at := min(int(cut), len(data))
		var got frame
		err := unmarshalFrame(mem.BufferSlice{mem.SliceBuffer(data[:at]), mem.SliceBuffer(data[at:])}, &got)
		if err != nil {
			return
		}
		var want flight.FlightData
		if proto.Unmarshal(data, &want) != nil {
			return // protobuf is stricter with what neither of us sends
		}
		require.True(t, bytes.Equal(want.DataHeader, got.data.DataHeader))
		require.True(t, bytes.Equal(want.AppMetadata, got.data.AppMetadata))
		require.True(t, bytes.Equal(want.DataBody, got.data.DataBody))
	})
}

// arrowFrames encodes a batch with a dictionary, NULLs and nesting.
func arrowFrames(t testing.TB) []*frame {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema,
		bytes.NewReader([]byte(`[{"a": 1, "d": "x", "l": ["p", null]}, {"a": null, "d": "y", "l": null}]`)))
	require.NoError(t, err)
	defer rec.Release()
	var e encoder
	first, err := e.start(schema)
	require.NoError(t, err)
	rest, err := e.encode(rec)
	require.NoError(t, err)
	require.Len(t, rest, 2)
	return append([]*frame{first}, rest...)
}

// FuzzArrow gives the decoder a valid stream of which one message is replaced.
func FuzzArrow(f *testing.F) {
	frames := arrowFrames(f)
	for i, fr := range frames {
		fr.ProtoReflect() // joins the body
		f.Add(uint8(i), fr.data.DataHeader, fr.data.DataBody)
	}
	f.Fuzz(func(t *testing.T, place uint8, header, body []byte) {
		d := decoder{mem: memory.DefaultAllocator}
		defer d.close()
		for i, fr := range frames {
			if i == int(place) {
				fr = &frame{data: &flight.FlightData{DataHeader: header, DataBody: body}}
			}
			kind, err := d.push(fr)
			requireTyped(t, err)
			if err != nil {
				return
			}
			if kind != ipc.MessageRecordBatch {
				continue
			}
			rec, err := d.batch()
			requireTyped(t, err)
			if err == nil {
				for _, col := range rec.Columns() {
					_ = col.String() // reads every value
				}
				rec.Release()
			}
		}
	})
}

// FuzzServerMessage greets with, and then reads, any message of a scanner.
func FuzzServerMessage(f *testing.F) {
	seed(f, "*.bin")
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &Scan{req: fullOpen(0), tally: newTally()}
		requireTyped(t, s.greet(controlFrame(data)))
		var m pb.ServerMessage
		if decodeMessage(data, &m) == nil {
			_, err := s.batchOf(m.GetBatch())
			requireTyped(t, err)
		}
	})
}
