package codec

import (
	"errors"
	"io"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// listen serves control messages until the stream ends. A coordinator that
// closes its side merely has nothing more to say.
func (s *Session) listen() {
	defer close(s.filters)
	for {
		f := newFrame()
		err := s.stream.RecvMsg(f)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			err = s.control(f)
		}
		if err != nil {
			s.cancel(grpcstatus.FromGRPC(err))
			return
		}
	}
}

// control handles one message. Messages of a kind unknown to this version are
// ignored: none of them is needed for a right answer.
func (s *Session) control(f *frame) error {
	var m pb.ClientMessage
	if err := decodeMessage(f.data.AppMetadata, &m); err != nil {
		return err
	}
	switch m := m.Message.(type) {
	case *pb.ClientMessage_Credit:
		s.starved.Store(m.Credit.GetStarved())
		s.credit.grant(m.Credit.GetBytes())
	case *pb.ClientMessage_Limit:
		s.limit(max(m.Limit.GetRemaining(), 0))
	case *pb.ClientMessage_Filter:
		s.offerFilter(m.Filter)
	case *pb.ClientMessage_Cancel:
		return status.New(status.Canceled, "the coordinator cancelled the scan")
	}
	return nil
}

// limit notes how many rows are still wanted: only the listener calls it.
func (s *Session) limit(rows int64) {
	if s.remaining.Swap(rows) != 0 && rows == 0 {
		select {
		case <-s.enough: // somebody changed their mind twice
		default:
			close(s.enough)
		}
	}
}

// offerFilter queues a dynamic filter; one that this version cannot read is
// ignored. Only the listener sends, so that making room cannot race.
func (s *Session) offerFilter(p *pb.Filter) {
	e, err := exprFromProto(p.GetExpr())
	if err != nil {
		return
	}
	update := FilterUpdate{Slot: int(p.GetSlot()), Generation: p.GetGeneration(), Expr: e}
	for {
		select {
		case s.filters <- update:
			return
		default:
		}
		select {
		case <-s.filters:
		default:
		}
	}
}
