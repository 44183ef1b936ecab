package adapt

import (
	"math"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// expected are the rows that scans will yield, by what they promised and by the
// keys of those that have finished; -1 for unknown.
func expected(sizes []int64, edges []Edge, scans []*plan.Scan, facts Facts) []int64 {
	out := make([]int64, len(sizes))
	for i, size := range sizes {
		switch facts[i].State {
		case Finished:
			size = facts[i].Rows
		case Removed, Cancelled:
			size = 0
		case Planned:
			size = narrowedTo(size, i, edges, scans, facts)
		}
		out[i] = size
	}
	return out
}

// narrowedTo takes each finished scan into account once, and of bounds what all of
// them leave of a column.
func narrowedTo(size int64, i int, edges []Edge, scans []*plan.Scan, facts Facts) int64 {
	kept, between := map[int]float64{}, map[int]*domain{}
	for _, e := range edges {
		if e.To != i || facts[e.From].State != Finished || !e.holds(&facts[e.From]) {
			continue
		}
		if e.Op != pushdown.Equal {
			if between[e.Column] == nil {
				between[e.Column] = domainOf(scans[i], e.Column)
			}
			between[e.Column].bound(e.Op, facts[e.From].Keys[e.FromColumn])
			continue
		}
		share, known := kept[e.From]
		if s := joinShare(scans[e.From], scans[i], e, facts[e.From]); !known || s < share {
			kept[e.From] = s
		}
	}
	if size <= 0 {
		return size
	}
	rows := float64(size)
	for _, share := range kept {
		rows *= share
	}
	for _, d := range between {
		rows *= d.share()
	}
	return max(int64(math.Round(rows)), 1)
}

// joinShare guesses which part of a scan's rows joins with the keys of another:
// the keys within the column's bounds beside all that there may be, which are no
// more than the table has rows that the keys are of.
func joinShare(from, to *plan.Scan, e Edge, facts ScanFacts) float64 {
	keys := facts.Keys[e.FromColumn]
	domain := float64(plan.TableRows(from.Table))
	count := float64(facts.Rows)
	if known := valuesOf(from, e.FromColumn); !math.IsInf(known, 1) && keys != nil && !keys.tooMany && !keys.unknown {
		count, domain = float64(len(keys.values)), known // values of values, not rows of rows
	}
	low, high, ok := plan.Domain(to.Table, to.Table.Arrow.Field(e.Column).Name)
	if within, counted := 0, false; ok && keys != nil {
		if within, counted = keys.within(low, high); counted {
			count = float64(within)
		}
		if domain < 0 || high-low+1 < domain {
			domain = high - low + 1
		}
	}
	if domain <= 0 {
		return 1
	}
	return min(count/domain, 1)
}

// valuesOf is about how many values a column of a scan has in its table, infinitely
// many when that is not known.
func valuesOf(s *plan.Scan, column int) float64 {
	if s.Partial != nil || column >= len(s.Output) || s.Output[column] < 0 {
		return math.Inf(1)
	}
	return plan.DistinctValues(s.Table, s.Table.Arrow.Field(s.Output[column]).Name)
}

// within counts the values between two numbers; not ok when they are too many to
// be known or no 64-bit numbers.
func (k *Keys) within(low, high float64) (n int, ok bool) {
	if k.tooMany || k.unknown {
		return 0, false
	}
	for v := range k.values {
		x, ok := v.number()
		if !ok {
			return 0, false
		}
		if low <= x && x <= high {
			n++
		}
	}
	return n, true
}

// number is the value of a key of 64 bits.
func (v key) number() (float64, bool) {
	return float64(int64(v.low)), v.text == "" && v.high == int64(v.low)>>63
}

// domain is a column's range, and what bounds leave of it.
type domain struct {
	low, high, from, to float64
	known               bool
}

func domainOf(s *plan.Scan, column int) *domain {
	low, high, ok := plan.Domain(s.Table, s.Table.Arrow.Field(column).Name)
	return &domain{low, high, low, high, ok}
}

// bound leaves what compares with one of the keys; not ok when their range is
// unknown.
func (d *domain) bound(op pushdown.CompareOp, keys *Keys) (ok bool) {
	if keys == nil || !keys.any || keys.unknown {
		return false
	}
	v, ok := keys.end(op).number()
	switch {
	case !ok:
	case op == pushdown.Less:
		d.to = min(d.to, v-1)
	case op == pushdown.LessEqual:
		d.to = min(d.to, v)
	case op == pushdown.Greater:
		d.from = max(d.from, v+1)
	case op == pushdown.GreaterEqual:
		d.from = max(d.from, v)
	}
	return ok
}

// share is the part that is left.
func (d *domain) share() float64 {
	if !d.known {
		return 1
	}
	return max(d.to-d.from+1, 0) / (d.high - d.low + 1)
}

// keptShare is the part of a column's range that an edge with keys leaves; not ok
// when the range is unknown.
func keptShare(s *plan.Scan, e Edge, keys *Keys) (share float64, ok bool) {
	d := domainOf(s, e.Column)
	if !d.known || keys == nil {
		return 0, false
	}
	if e.Op != pushdown.Equal {
		ok := d.bound(e.Op, keys)
		return d.share(), ok
	}
	n, ok := keys.span(d.low, d.high)
	return max(n, 0) / (d.high - d.low + 1), ok
}

// span counts the values that pass for keys between two numbers: of a range all
// within it.
func (k *Keys) span(low, high float64) (n float64, ok bool) {
	if !k.tooMany {
		n, ok := k.within(low, high)
		return float64(n), ok
	}
	from, fromOK := k.low.number()
	to, toOK := k.high.number()
	return min(to, high) - max(from, low) + 1, fromOK && toOK && !k.unknown
}
