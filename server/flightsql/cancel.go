package flightsql

import (
	"context"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tributary-db/tributary/pushdown/status"
)

// cancelWait is how long CancelFlightInfo waits for the end of a query.
const cancelWait = time.Second

// queries are the running queries, by the id of their ticket.
type queries struct {
	mu      sync.Mutex
	running map[string]map[*runningQuery]struct{}
	// cancelled are the tickets that must not run any more.
	cancelled *cache[bool]
}

type runningQuery struct {
	cancel context.CancelCauseFunc
	ended  chan struct{}
}

func newQueries() *queries {
	return &queries{running: map[string]map[*runningQuery]struct{}{}, cancelled: newCache[bool](maxPlans, boundLife)}
}

// begin makes the context of a query, which cancel ends; end is called when
// nothing of the query is left.
func (q *queries) begin(ctx context.Context, id string) (_ context.Context, end func(), _ error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &runningQuery{cancel: cancel, ended: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cancelled.get(id) {
		cancel(nil)
		return nil, nil, errCancelled()
	}
	if q.running[id] == nil {
		q.running[id] = map[*runningQuery]struct{}{}
	}
	q.running[id][r] = struct{}{}
	return ctx, func() { q.end(id, r) }, nil
}

func (q *queries) end(id string, r *runningQuery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.cancel(nil)
	close(r.ended)
	if delete(q.running[id], r); len(q.running[id]) == 0 {
		delete(q.running, id)
	}
}

// cancel ends the queries of a ticket, and refuses it from now on.
func (q *queries) cancel(id string) []*runningQuery {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelled.put(id, true, 1)
	var stopped []*runningQuery
	for r := range q.running[id] {
		r.cancel(errCancelled())
		stopped = append(stopped, r)
	}
	return stopped
}

func errCancelled() error {
	return status.New(status.Canceled, "the query was cancelled by CancelFlightInfo")
}

// CancelFlightInfo stops the queries that run here for the tickets of a
// FlightInfo, and those that would be started here with them. Where nothing runs
// and another coordinator may be the one that runs it, the answer is that the
// outcome is not known: the client may ask again, and reach the other.
func (s *Server) CancelFlightInfo(ctx context.Context, req *flight.CancelFlightInfoRequest) (flight.CancelFlightInfoResult, error) {
	if req.GetInfo() == nil {
		return flight.CancelFlightInfoResult{}, status.New(status.InvalidArgument, "the FlightInfo to cancel is missing")
	}
	outcome := flight.CancelStatusNotCancellable
	var stopped []*runningQuery
	direct := false
	for _, e := range req.GetInfo().GetEndpoint() {
		raw, ok := statementHandle(e.GetTicket())
		if !ok {
			continue
		}
		h, err := s.handles.decodeAny(ctx, raw)
		if err != nil {
			return flight.CancelFlightInfoResult{}, err
		}
		s.prepared.take(h.ID)
		stopped = append(stopped, s.queries.cancel(h.ID)...)
		direct = direct || h.Direct != nil
		outcome = flight.CancelStatusCancelled
	}
	switch {
	case direct: // a scanner may serve it, whom nobody tells
		outcome = flight.CancelStatusNotCancellable
	case !allEnded(ctx, stopped):
		outcome = flight.CancelStatusCancelling
	case s.shared && len(stopped) == 0 && outcome == flight.CancelStatusCancelled:
		outcome = flight.CancelStatusUnspecified
	}
	return flight.CancelFlightInfoResult{Status: outcome}, nil
}

func allEnded(ctx context.Context, stopped []*runningQuery) bool {
	ctx, cancel := context.WithTimeout(ctx, cancelWait)
	defer cancel()
	for _, r := range stopped {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
