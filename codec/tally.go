package codec

import (
	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// tally counts what one side of a stream sent or received.
type tally struct {
	rows, batches, bytes, rowsScanned int64
	sum                               *xxh3.Hasher
}

func newTally() tally { return tally{sum: xxh3.New()} }

// frame adds one Arrow message. Writing to a hash cannot fail.
func (t *tally) frame(f *frame) {
	_, _ = t.sum.Write(f.data.DataHeader)
	_, _ = t.sum.Write(f.data.AppMetadata)
	_, _ = t.sum.Write(f.data.DataBody)
	for _, p := range f.parts {
		_, _ = t.sum.Write(p)
	}
	t.bytes += f.wireBytes()
}

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
		Rows: t.rows, Batches: t.batches, Checksum: t.sum.Sum64(),
		RowsScanned: t.rowsScanned, BytesSent: t.bytes,
	}}}
}

// verify compares the sender's End with what was received.
func (t *tally) verify(e *pb.End) error {
	switch {
	case e.GetRows() != t.rows || e.GetBatches() != t.batches:
		return status.New(status.DataLoss, "the scanner sent %d rows in %d batches, but %d rows in %d batches arrived",
			e.GetRows(), e.GetBatches(), t.rows, t.batches)
	case e.GetChecksum() != t.sum.Sum64() || e.GetBytesSent() != t.bytes:
		return status.New(status.DataLoss, "the rows that arrived are not those that the scanner sent: checksums of %d and %d bytes differ",
			t.bytes, e.GetBytesSent())
	}
	t.progress(e.GetRowsScanned())
	return nil
}
