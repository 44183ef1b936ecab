package adapt

import (
	"fmt"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

var _ Rule = broadcastJoin{}

// broadcastJoin chooses the plan's Broadcast when all small scans have finished and
// less moves that way.
type broadcastJoin struct{}

// Name is "broadcast_join".
func (broadcastJoin) Name() string { return plan.BroadcastJoin }

// Apply marks all scans that look rows up, or none.
func (broadcastJoin) Apply(root plan.Node, facts Facts) (plan.Node, bool, error) {
	if !broadcastable(root, facts) {
		return root, false, nil
	}
	out, changed := amend(root, func(i int, _ *plan.Scan, r plan.Runtime) plan.Runtime {
		if j := facts[i].Broadcast; j != nil && len(r.Lookups) == 0 {
			for _, small := range j.Small {
				r.Lookups = append(r.Lookups, facts[small].ID)
			}
		}
		return r
	})
	return out, changed, nil
}

func broadcastable(root plan.Node, facts Facts) bool {
	ok, _ := weigh(root, facts)
	return ok
}

// weigh decides, and says why when all small scans have finished.
func weigh(root plan.Node, facts Facts) (ok bool, why string) {
	rows := sizesOf(root, facts)
	bytes := int64(0)
	for i, f := range facts {
		if f.Broadcast == nil {
			continue
		}
		ready, problem := f.Broadcast.ready(facts)
		if !ready || f.State != Planned || runtimeOf(plan.Scans(root)[i]).Removed {
			return false, ""
		}
		if problem == "" && f.Size > 0 {
			problem = f.Broadcast.pays(rows[i], facts, rows)
		}
		if problem != "" {
			return false, "nothing is broadcast to " + f.ID + ": " + problem
		}
		ok = true
		for _, small := range f.Broadcast.Small {
			bytes += facts[small].Bytes
		}
		why = fmt.Sprintf("rows of %s are looked up by its scanners in %d bytes", f.ID, bytes)
		if f.Size > 0 {
			why = fmt.Sprintf("about %d ", rows[i]) + why
		}
	}
	if bytes > maxBroadcast {
		return false, fmt.Sprintf("%d bytes are too many to be broadcast", bytes)
	}
	return ok, why
}

// sizesOf are the rows that scans may yield.
func sizesOf(root plan.Node, facts Facts) []int64 {
	sizes := make([]int64, len(facts))
	for i, f := range facts {
		sizes[i] = f.Size
	}
	return expected(sizes, Edges(root), plan.Scans(root), facts)
}

// ready: all small scans have finished; problem says that one does not travel.
func (j *Joins) ready(facts Facts) (ok bool, problem string) {
	for _, small := range j.Small {
		if facts[small].State != Finished {
			return false, ""
		}
		if !travels(facts[small]) {
			problem = fmt.Sprintf("%s has %d rows, %d bytes", facts[small].ID, facts[small].Rows, facts[small].Bytes)
		}
	}
	return true, problem
}

// maxBroadcast bounds what travels with the scans of a plan to each scanner.
const maxBroadcast = 4 << 20

// travels: the rows are few enough for a relation. Values take a little more there
// than here.
func travels(f ScanFacts) bool {
	return f.Rows <= pushdown.MaxRelationRows && f.Bytes <= pushdown.MaxRelationBytes*3/4
}

// Joins is what statistics say of a scan with lookups.
type Joins struct {
	// Small are the scans whose rows are looked up.
	Small []int
	// Targets is the number of scanners that they travel to, and that send groups.
	Targets int
	// Grouped are the smalls by whose columns rows are grouped.
	Grouped []int
	// Keys bounds the groups by the columns of the large table alone, and Before
	// those that the first plan sends; infinite when unknown.
	Keys, Before float64
	// Width and WidthBefore are about the bytes of a row that is sent.
	Width, WidthBefore float64
}

// JoinsOf are the Joins of the plan's scans that have lookups in its
// Broadcast.
func JoinsOf(p *plan.Plan) map[int]*Joins {
	out := map[int]*Joins{}
	if p.Broadcast == nil {
		return out
	}
	for i, s := range p.Broadcast.Plan.Scans {
		small := p.Broadcast.Small[i]
		if len(small) == 0 {
			continue
		}
		first := p.Scans[p.Broadcast.Scans[i]]
		j := &Joins{Small: small, Targets: max(len(s.Targets), 1), Width: s.Width(), WidthBefore: first.Width(), Before: first.Groups()}
		keys, lookups := s.GroupsByTable()
		j.Keys = keys
		for _, l := range lookups {
			j.Grouped = append(j.Grouped, small[l])
		}
		out[p.Broadcast.Scans[i]] = j
	}
	return out
}

// pays says why not much less moves than the rows of the large scan, or the groups
// of them that the first plan has; "" when it does. size is what is known of the rows
// of scans.
func (j *Joins) pays(large int64, facts Facts, size []int64) string {
	if moved := float64(large) * j.WidthBefore; moved < leastMoved {
		return fmt.Sprintf("about %d of its rows move, %.0f bytes", large, moved)
	}
	groups, moved := j.Keys, 0.0
	for _, i := range j.Grouped {
		groups *= float64(max(size[i], 1))
	}
	for _, i := range j.Small {
		moved += float64(size[i]) * smallWidth(facts[i])
	}
	before, after := min(float64(large), j.Before), min(float64(large), groups)
	if before*j.WidthBefore > muchLess*float64(j.Targets)*(moved+after*j.Width) {
		return ""
	}
	return fmt.Sprintf("about %.0f rows move, and %.0f groups would", before, after*float64(j.Targets))
}

// leastMoved are the bytes below which the engine, which joins faster than the
// scanners' kernels, is done sooner with the rows.
const leastMoved = 128 << 20

// muchLess is what a broadcast must save to be worth its work.
const muchLess = 3

// smallWidth is the bytes of a row of a scan that has finished, or a guess.
func smallWidth(f ScanFacts) float64 {
	if f.State != Finished || f.Rows == 0 {
		return 32
	}
	return float64(f.Bytes) / float64(f.Rows)
}

// mayBroadcast are the scans that are worth reading first because they may be
// broadcast, with the scan that looks them up, by the rows that scans may have.
func mayBroadcast(mode Mode, facts Facts, rows []int64) map[int]int {
	out := map[int]int{}
	for i, f := range facts {
		if f.Broadcast == nil {
			continue
		}
		if f.State != Planned {
			return nil
		}
		for _, small := range f.Broadcast.Small {
			if s := facts[small].State; s == Cancelled || s == Removed || s == Finished && !travels(facts[small]) {
				return nil
			}
			if mode == On && (rows[small] < 0 || rows[small] > pushdown.MaxRelationRows) {
				return nil
			}
			out[small] = i
		}
		if mode == On && f.Broadcast.pays(rows[i], facts, rows) != "" {
			return nil
		}
	}
	return out
}
