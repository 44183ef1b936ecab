package codec

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestVerifyAcceptsWhatIsWritten(t *testing.T) {
	t.Parallel()
	for _, f := range arrowFrames(t) {
		require.NoError(t, verifyMessage(f.data.DataHeader))
	}
	var fields []arrow.Field
	for _, dt := range everyType() {
		fields = append(fields, arrow.Field{Name: "c", Type: dt, Metadata: arrow.NewMetadata([]string{"k"}, []string{"v"})})
	}
	md := arrow.NewMetadata([]string{"k", "l"}, []string{"v", ""})
	for _, schema := range []*arrow.Schema{arrow.NewSchema(fields, &md), arrow.NewSchema(nil, nil)} {
		got, err := decodeSchema(encodeSchema(schema))
		require.NoError(t, err)
		require.True(t, schema.Equal(got))
	}
}

// TestEveryFlippedByte: a damaged header is an error or harmless, never a panic
// or a huge allocation.
func TestEveryFlippedByte(t *testing.T) {
	t.Parallel()
	frames := arrowFrames(t)
	for place, f := range frames {
		f.ProtoReflect() // joins the body
		for at := range f.data.DataHeader {
			header := append([]byte{}, f.data.DataHeader...)
			for _, flip := range []byte{0x01, 0x80, 0xff} {
				header[at] = f.data.DataHeader[at] ^ flip
				readFrames(t, frames, place, &frame{data: &flight.FlightData{DataHeader: header, DataBody: f.data.DataBody}})
			}
		}
		for n := range f.data.DataHeader {
			readFrames(t, frames, place, &frame{data: &flight.FlightData{DataHeader: f.data.DataHeader[:n], DataBody: f.data.DataBody}})
		}
		for n := range f.data.DataBody {
			readFrames(t, frames, place, &frame{data: &flight.FlightData{DataHeader: f.data.DataHeader, DataBody: f.data.DataBody[:n]}})
		}
	}
}

// readFrames reads a stream with one frame replaced.
func readFrames(t *testing.T, frames []*frame, place int, damaged *frame) {
	t.Helper()
	d := decoder{mem: memory.DefaultAllocator}
	defer d.close()
	for i, f := range frames {
		if i == place {
			f = damaged
		}
		kind, err := d.push(f)
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
}

func TestCompressedBatchIsRefused(t *testing.T) {
	t.Parallel()
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.Null}}, nil), []arrow.Array{array.NewNull(1)}, 1)
	defer rec.Release()
	p, err := ipc.GetRecordBatchPayload(rec, ipc.WithLZ4())
	require.NoError(t, err)
	defer p.Release()
	meta := p.Meta()
	defer meta.Release()
	err = verifyMessage(meta.Bytes())
	require.Equal(t, status.DataLoss, status.CodeOf(err))
	require.ErrorContains(t, err, "compressed")
}

func TestMalformedSchemas(t *testing.T) {
	t.Parallel()
	whole := encodeSchema(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil))
	for n := 1; n < len(whole)-8; n++ { // the last 8 bytes are the end marker
		_, err := decodeSchema(whole[:n])
		require.Equal(t, status.DataLoss, status.CodeOf(err), "%d bytes", n)
	}
	s, err := decodeSchema(nil)
	require.NoError(t, err)
	require.Nil(t, s)
}
