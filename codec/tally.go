package codec

import (
	"hash/crc32"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// tally counts what one side of a stream sent or received.
type tally struct {
	rows, batches, bytes, rowsScanned int64
	table                             *crc32.Table
	sum                               uint32
}

func newTally() tally { return tally{table: crc32.MakeTable(crc32.Castagnoli)} }

// frame adds one Arrow message.
func (t *tally) frame(f *frame) {
	t.add(f.data.DataHeader)
	t.add(f.data.AppMetadata)
	t.add(f.data.DataBody)
	for _, p := range f.parts {
		t.add(p)
	}
	t.bytes += f.wireBytes()
}

func (t *tally) add(b []byte) { t.sum = crc32.Update(t.sum, t.table, b) }

// batch adds the rows of one batch.
func (t *tally) batch(rows, scanned int64) {
	t.rows += rows
	t.batches++
	t.progress(scanned)
}

// progress never goes back: batches of several goroutines may overtake.
func (t *tally) progress(scanned int64) { t.rowsScanned = max(t.rowsScanned, scanned) }

func (t *tally) end() End {
	return End{Rows: t.rows, Batches: t.batches, RowsScanned: t.rowsScanned, BytesSent: t.bytes}
}

func (t *tally) toProto() *pb.ServerMessage {
	return &pb.ServerMessage{Message: &pb.ServerMessage_End{End: &pb.End{
		Rows: t.rows, Batches: t.batches, Checksum: t.sum,
		RowsScanned: t.rowsScanned, BytesSent: t.bytes,
	}}}
}

// verify compares the sender's End with what was received.
func (t *tally) verify(e *pb.End) error {
	switch {
	case e.GetRows() != t.rows || e.GetBatches() != t.batches:
		return status.New(status.DataLoss, "the scanner sent %d rows in %d batches, but %d rows in %d batches arrived",
			e.GetRows(), e.GetBatches(), t.rows, t.batches)
	case e.GetChecksum() != t.sum || e.GetBytesSent() != t.bytes:
		return status.New(status.DataLoss, "the rows that arrived are not those that the scanner sent: checksums of %d and %d bytes differ",
			t.bytes, e.GetBytesSent())
	}
	t.progress(e.GetRowsScanned())
	return nil
}
