package exec

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// quota is a number of rows shared by the streams of a scan, or of several scans.
// What it leaves is told to the scans as it shrinks.
type quota struct {
	limited bool

	mu    sync.Mutex
	left  int64
	told  int64
	scans []*openScan
}

func newQuota(rows int64) *quota {
	return &quota{limited: rows != pushdown.NoLimit, left: rows, told: rows}
}

// join makes the quota speak to o, which has nothing to read when it is used up.
func (q *quota) join(o *openScan) {
	q.mu.Lock()
	q.scans = append(q.scans, o)
	spent := q.limited && q.left == 0
	q.mu.Unlock()
	if spent {
		o.sate()
	}
}

func (q *quota) members() []*openScan {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.scans)
}

// take consumes b and returns what the quota leaves of it, nil for nothing, and
// whether the quota is used up.
func (q *quota) take(b arrow.RecordBatch) (kept arrow.RecordBatch, enough bool) {
	if !q.limited {
		return b, false
	}
	n, left := q.grant(b.NumRows())
	switch {
	case n == b.NumRows():
		return b, left == 0
	case n == 0:
		b.Release()
		return nil, true
	}
	defer b.Release()
	return b.NewSlice(0, n), true
}

func (q *quota) grant(rows int64) (granted, left int64) {
	q.mu.Lock()
	granted = min(rows, q.left)
	q.left -= granted
	left = q.left
	var tell []*openScan
	// Each message halves the number, so that there are few of them.
	if left <= q.told/2 && granted > 0 {
		q.told, tell = left, q.scans
	}
	q.mu.Unlock()
	for _, o := range tell {
		o.control.limit(left)
	}
	return granted, left
}

// quotaOf is the number of rows that all streams of a scan share, or NoLimit: a
// LIMIT without an order may take its rows from anywhere.
func quotaOf(s *pushdown.Spec) int64 {
	if s.Grouped() || len(s.OrderBy) > 0 {
		return pushdown.NoLimit
	}
	return s.Limit
}

// sharedQuota gives the scans below a LIMIT of a UNION ALL one quota: any rows of
// any of them will do. Only a LIMIT at the top of the plan counts, because what
// is below something else may be read more than once.
func (q *query) sharedQuota() {
	if q.plan.Kind != plan.Residual || q.plan.Root == nil {
		return
	}
	limit := topLimit(q.plan.Root)
	if limit == nil {
		return
	}
	scans, ok := unionScans(limit.Input)
	all := plan.Scans(q.plan.Root)
	if !ok || len(scans) < 2 || len(all) != len(scans) || len(all) != len(q.scans) {
		return
	}
	rows := limit.Count + limit.Offset
	for _, s := range q.scans {
		if quotaOf(&s.plan.Spec) != rows {
			return
		}
	}
	shared := newQuota(rows)
	for _, s := range q.scans {
		s.shared = shared
	}
}

// topLimit is the LIMIT that nothing but projections is above of, or nil.
func topLimit(n plan.Node) *plan.Limit {
	switch n := n.(type) {
	case *plan.Project:
		return topLimit(n.Input)
	case *plan.Limit:
		if n.Count >= 0 && n.Offset >= 0 {
			return n
		}
	}
	return nil
}

// unionScans are the scans that n yields all rows of, if it is nothing else.
func unionScans(n plan.Node) (scans []*plan.Scan, ok bool) {
	switch n := n.(type) {
	case *plan.Scan:
		return []*plan.Scan{n}, true
	case *plan.Project:
		return unionScans(n.Input)
	case *plan.SetOp:
		if n.Op != "UNION" || !n.All {
			return nil, false
		}
		for _, in := range n.InputNodes {
			more, ok := unionScans(in)
			if !ok {
				return nil, false
			}
			scans = append(scans, more...)
		}
		return scans, true
	}
	return nil, false
}

// rowsAtMost bounds the rows of a plan by its topmost LIMIT, 0 for no bound.
func rowsAtMost(n plan.Node) int64 {
	switch n := n.(type) {
	case *plan.Project:
		return rowsAtMost(n.Input)
	case *plan.Limit:
		return max(n.Count, 0)
	case *plan.TopN:
		return max(n.Limit, 0)
	}
	return 0
}
