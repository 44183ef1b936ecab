package scanner

import (
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/ipc"
	"github.com/tributary-db/tributary/pushdown"
)

// errEnough stops a scan of which no more rows are wanted. It is not a failure.
var errEnough = errors.New("no more rows are wanted")

// sink takes the results of a scan; it is safe for concurrent use. send does
// not keep the batch, and returns errEnough after the last row wanted.
type sink interface {
	send(batch arrow.RecordBatch, at codec.Progress) error
}

// quota is the number of rows still wanted: the limit of the spec, or less once
// the coordinator says so.
type quota struct {
	mu   sync.Mutex
	left int64 // pushdown.NoLimit for all
	told int64 // what the coordinator said last
}

func newQuota(limit int64) *quota { return &quota{left: limit, told: pushdown.NoLimit} }

// hear takes the coordinator's latest word and reports whether rows are still
// wanted.
func (q *quota) hear(remaining int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if remaining != q.told {
		q.told = remaining
		if q.left == pushdown.NoLimit || remaining < q.left {
			q.left = remaining
		}
	}
	return q.left != 0
}

// take reserves up to n rows and returns how many of them may be sent.
func (q *quota) take(n int64) (granted int64, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.left == pushdown.NoLimit {
		return n, false
	}
	granted = min(n, q.left)
	q.left -= granted
	return granted, q.left == 0
}

// cut sends what the quota grants of a batch.
func (q *quota) cut(batch arrow.RecordBatch, send func(arrow.RecordBatch) error) error {
	n, last := q.take(batch.NumRows())
	if n > 0 {
		part := batch.NewSlice(0, n)
		err := send(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	if last {
		return errEnough
	}
	return nil
}

// exchange sends to a coordinator.
type exchange struct {
	session *codec.Session
	mode    codec.Mode
	quota   *quota
	metrics *metrics
}

func (x *exchange) send(batch arrow.RecordBatch, at codec.Progress) error {
	if !x.quota.hear(x.session.Remaining()) {
		return errEnough
	}
	return x.quota.cut(batch, func(b arrow.RecordBatch) error {
		if err := x.session.Send(b, x.mode, at); errors.Is(err, codec.ErrEnough) {
			return errEnough
		} else if err != nil {
			return err
		}
		x.metrics.sent(b.NumRows(), ipc.EncodedSize(b))
		return nil
	})
}

// download sends to a plain Flight client.
type download struct {
	out     *codec.RecordSender
	target  int64
	metrics *metrics
}

func newDownload(stream flight.FlightService_DoGetServer, schema *arrow.Schema, s *Scanner) (*download, error) {
	out, err := codec.NewRecordSender(stream, schema)
	return &download{out: out, target: s.cfg.BatchBytes, metrics: s.metrics}, err
}

func (d *download) send(batch arrow.RecordBatch, _ codec.Progress) error {
	for piece, err := range ipc.SplitByBytes(batch, d.target, codec.MaxBatchBytes) {
		if err != nil {
			return err
		}
		err = d.out.Send(piece)
		d.metrics.sent(piece.NumRows(), ipc.EncodedSize(piece))
		piece.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
