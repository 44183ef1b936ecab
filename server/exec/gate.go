package exec

import (
	"context"
	"sync/atomic"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

// gate holds back the rows of a scan until every scanner for which partitions
// were left out has confirmed that their statistics still hold. Up to then the
// statement can be planned again without anybody having seen a row.
type gate struct {
	left atomic.Int64
	open chan struct{}
}

func newGate(targets []plan.Target) *gate {
	g := &gate{open: make(chan struct{})}
	g.left.Store(1)
	for i := range targets {
		if targets[i].Version != "" {
			g.left.Add(1)
		}
	}
	g.pass()
	return g
}

// pass is called once for each target with a version, and opens the gate after
// the last one.
func (g *gate) pass() {
	if g.left.Add(-1) == 0 {
		close(g.open)
	}
}

func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return status.Wrap(status.Canceled, context.Cause(ctx), "another scanner's statistics were waited for")
	}
}

// confirm waits for the echo of a scan that relies on statistics, and then for
// those of the other targets.
func (a *attempt) confirm(ctx context.Context, scan *codec.Scan) error {
	if a.target.Version != "" {
		if _, err := scan.Opened(); err != nil {
			return err
		}
		a.confirmed = true
		a.open.gate.pass()
	}
	return a.open.gate.wait(ctx)
}

// waive is called before others read all that the target has: nothing needs to
// be confirmed any more.
func (a *attempt) waive() {
	if a.target.Version != "" && !a.confirmed {
		a.open.gate.pass()
	}
}
