package codec

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// decoder turns frames into record batches: an IPC reader that is fed only with
// messages that are there, so that it never waits.
type decoder struct {
	mem    memory.Allocator
	reader *ipc.Reader
	feed   *feed
}

// feed is the message queue of an IPC reader.
type feed struct {
	queue   []*ipc.Message
	current *ipc.Message
}

// Retain does nothing: the decoder owns the feed.
func (*feed) Retain() {}

// Release does nothing: the decoder owns the feed.
func (*feed) Release() {}

// Message returns the next message that is there.
func (f *feed) Message() (*ipc.Message, error) {
	f.drop()
	if len(f.queue) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	f.current, f.queue = f.queue[0], f.queue[1:]
	return f.current, nil
}

// drop releases the message that was read.
func (f *feed) drop() {
	if f.current != nil {
		f.current.Release()
		f.current = nil
	}
}

// clear releases every message.
func (f *feed) clear() {
	f.drop()
	for _, m := range f.queue {
		m.Release()
	}
	f.queue = nil
}

// push takes the Arrow message of a frame and reports its type. A record batch
// is then to be read with [decoder.batch].
func (d *decoder) push(f *frame) (ipc.MessageType, error) {
	msg, err := message(f)
	if err != nil {
		return ipc.MessageNone, err
	}
	kind := msg.Type()
	switch kind {
	case ipc.MessageSchema:
		return kind, d.start(msg)
	case ipc.MessageDictionaryBatch, ipc.MessageRecordBatch:
		if d.reader != nil {
			d.feed.queue = append(d.feed.queue, msg)
			return kind, nil
		}
	}
	msg.Release()
	return kind, status.New(status.DataLoss, "an Arrow message of type %s arrived out of order", kind)
}

// message reads the frame's flatbuffer; what is malformed in spite of the check
// panics inside.
func message(f *frame) (msg *ipc.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = status.New(status.DataLoss, "a malformed Arrow message arrived: %v", r)
		}
	}()
	if err := verifyMessage(f.data.DataHeader); err != nil {
		return nil, err
	}
	msg = ipc.NewMessage(memory.NewBufferBytes(f.data.DataHeader), memory.NewBufferBytes(f.data.DataBody))
	return msg, nil
}

// start begins a new IPC stream.
func (d *decoder) start(schema *ipc.Message) error {
	d.close()
	d.feed = &feed{queue: []*ipc.Message{schema}}
	reader, err := ipc.NewReaderFromMessageReader(d.feed, ipc.WithAllocator(d.mem))
	if err != nil {
		d.feed.clear()
		return status.Wrap(status.DataLoss, err, "a malformed Arrow schema arrived")
	}
	d.reader = reader
	return nil
}

// batch reads the record batch that was pushed; the caller releases it.
func (d *decoder) batch() (arrow.RecordBatch, error) {
	if !d.reader.Next() {
		err := d.reader.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, status.Wrap(status.DataLoss, err, "a malformed Arrow record batch arrived")
	}
	rec := d.reader.RecordBatch()
	if err := validate(rec); err != nil {
		return nil, err
	}
	rec.Retain()
	return rec, nil
}

// validate checks offsets, lengths and indices, so that reading values cannot
// go wrong later. The library's own check panics on some of what it looks for.
func validate(rec arrow.RecordBatch) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = status.New(status.DataLoss, "a malformed record batch arrived: %v", r)
		}
	}()
	for i, col := range rec.Columns() {
		if err := validateArray(col); err != nil {
			return status.Wrap(status.DataLoss, err, "a malformed column %q arrived", rec.ColumnName(i))
		}
	}
	return nil
}

// schema is nil before the first schema message.
func (d *decoder) schema() *arrow.Schema {
	if d.reader == nil {
		return nil
	}
	return d.reader.Schema()
}

// close releases what the reader keeps.
func (d *decoder) close() {
	if d.reader != nil {
		d.reader.Release()
		d.reader = nil
	}
	if d.feed != nil {
		d.feed.clear()
	}
}
