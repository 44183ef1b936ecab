package exec

import (
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// learn remembers what a scan yielded that nobody stopped or narrowed.
func (o *openScan) learn() {
	s := o.scan
	if s.query.learns() && !s.narrowed && int(o.complete.Load()) == len(s.plan.Targets) && !o.slots.used() {
		s.query.exec.feedback.Learn(s.plan, o.rows.Load())
		s.query.exec.feedback.LearnGroups(s.plan, s.scanned(), o.rows.Load())
	}
}

// learns: the plan is run by what earlier ones showed.
func (q *query) learns() bool { return learns(q.opts.Adaptive) }

func learns(mode adapt.Mode) bool { return mode != "" && mode != adapt.Off }

// passing is the number of rows that pass the scan's filter, or of the groups of
// them where earlier scans showed that, -1 for unknown.
func (s *remoteScan) passing() int64 {
	n := s.plan.EstimatedRows()
	if !s.query.learns() {
		return n
	}
	seen, ok := s.query.exec.feedback.Expect(s.plan)
	if !ok || s.narrowed && 0 <= n && n < seen {
		return n
	}
	return seen
}

// groups is the number of groups by what earlier scans showed, -1 for unknown.
func (s *remoteScan) groups() int64 {
	if !s.query.learns() {
		return -1
	}
	if seen, ok := s.query.exec.feedback.Expect(s.plan); ok {
		return seen
	}
	return -1
}

// Remembered says for EXPLAIN what is expected of the scans of a plan by what
// earlier ones showed, "" for nothing.
func (e *Executor) Remembered(p *plan.Plan, mode adapt.Mode) string {
	if !learns(mode) {
		return ""
	}
	return e.feedback.Text(p)
}
