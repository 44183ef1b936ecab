package duckdb

import (
	"context"
	"sync"
	"time"

	bind "github.com/duckdb/duckdb-go-bindings"
)

// stream is a running statement whose result is fetched chunk by chunk. It
// holds one connection until close. Its methods are for one goroutine.
type stream struct {
	ctx    context.Context
	engine *Engine
	conn   bind.Connection
	stmt   bind.PreparedStatement
	res    bind.Result
	guard  *interrupter
	ended  bool
}

// stream starts a statement. When ctx ends the statement is interrupted.
func (e *Engine) stream(ctx context.Context, sql string) (*stream, error) {
	conn, err := e.acquire()
	if err != nil {
		return nil, err
	}
	s := &stream{ctx: ctx, engine: e, conn: conn, guard: guard(ctx, conn)}
	if err := s.start(sql); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stream) start(sql string) error {
	if bind.Prepare(s.conn, sql, &s.stmt) != bind.StateSuccess {
		return engineError(s.ctx, bind.PrepareError(s.stmt))
	}
	if err := s.ctx.Err(); err != nil {
		return engineError(s.ctx, "")
	}
	var pending bind.PendingResult
	defer bind.DestroyPending(&pending)
	if bind.PendingPreparedStreaming(s.stmt, &pending) != bind.StateSuccess {
		return engineError(s.ctx, bind.PendingError(pending))
	}
	if bind.ExecutePending(pending, &s.res) != bind.StateSuccess {
		return engineError(s.ctx, bind.ResultError(&s.res))
	}
	return nil
}

// fetch returns the next chunk, or one with a nil Ptr at the end. The caller
// destroys it.
func (s *stream) fetch() (bind.DataChunk, error) {
	if s.ended {
		return bind.DataChunk{}, nil
	}
	if err := s.ctx.Err(); err != nil {
		return bind.DataChunk{}, engineError(s.ctx, "")
	}
	chunk := bind.FetchChunk(s.res)
	if chunk.Ptr != nil {
		return chunk, nil
	}
	s.ended = true
	if msg := bind.ResultError(&s.res); msg != "" {
		return chunk, engineError(s.ctx, msg)
	}
	return chunk, nil
}

// close stops the statement and gives the connection back.
func (s *stream) close() {
	interrupted := s.guard.disarm()
	bind.DestroyResult(&s.res)
	bind.DestroyPrepare(&s.stmt)
	s.engine.release(s.conn, interrupted)
}

// columnTypes are the logical types of the result; the caller destroys them.
func (s *stream) columnTypes() []bind.LogicalType {
	types := make([]bind.LogicalType, bind.ColumnCount(&s.res))
	for i := range types {
		types[i] = bind.ColumnLogicalType(&s.res, bind.IdxT(i))
	}
	return types
}

// interrupter interrupts a connection from the moment a context ends until it
// is disarmed. DuckDB forgets an interrupt that arrives before the execution
// begins, so it is repeated.
type interrupter struct {
	stop func() bool
	done chan struct{}

	mu    sync.Mutex
	fired bool
	over  bool
}

const interruptEvery = 10 * time.Millisecond

func guard(ctx context.Context, conn bind.Connection) *interrupter {
	g := &interrupter{done: make(chan struct{})}
	g.stop = context.AfterFunc(ctx, func() { g.fire(conn) })
	return g
}

func (g *interrupter) fire(conn bind.Connection) {
	tick := time.NewTicker(interruptEvery)
	defer tick.Stop()
	for g.interrupt(conn) {
		select {
		case <-g.done:
			return
		case <-tick.C:
		}
	}
}

// interrupt holds the lock so that the connection outlives the call.
func (g *interrupter) interrupt(conn bind.Connection) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return false
	}
	g.fired = true
	bind.Interrupt(conn)
	return true
}

// disarm ends the interrupts and reports whether there was one.
func (g *interrupter) disarm() bool {
	g.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over {
		g.over = true
		close(g.done)
	}
	return g.fired
}
