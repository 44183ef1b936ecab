package plan

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

// Broadcast is another way to run a Residual plan: the rows of small tables travel
// to the scanners of large ones, which look their rows up in them and send groups.
// Whether these tables are small is known when they have been read, so the plan is
// chosen while the first one runs.
type Broadcast struct {
	// Plan reads the large tables with lookups, and not the small ones.
	Plan *Plan
	// Scans are, of each of Plan.Scans, the position of that scan among the first
	// plan's.
	Scans []int
	// Small are, of each of Plan.Scans, the positions among the first plan's scans of
	// those whose rows its lookups take, in their order; none where it is the scan of
	// the first plan.
	Small [][]int
}

// Large are the positions of the scans, of the first plan, that become scans with
// lookups.
func (b *Broadcast) Large() []int {
	var out []int
	for i, small := range b.Small {
		if len(small) > 0 {
			out = append(out, b.Scans[i])
		}
	}
	return out
}

// keyed: values of both types can be compared by a lookup.
func keyed(a, b arrow.DataType) bool {
	f, ok := pushdown.FamilyOf(a)
	return ok && f != pushdown.FamilyFloat && arrow.TypeEqual(pushdown.ValueType(a), pushdown.ValueType(b))
}

// before are the rules that run before aggregates move.
var beforeAggregates = []string{columnPruning{}.Name(), filterLift{}.Name(), outerJoin{}.Name(), impliedFilter{}.Name(), filterPushdown{}.Name()}

// phases divides rules in two: aggregates move in the second.
func phases(all []Rule) (first, second []Rule) {
	at := slices.IndexFunc(all, func(r Rule) bool { return !slices.Contains(beforeAggregates, r.Name()) })
	return all[:at], all[at:]
}

// broadcast makes the other way to run p, whose rules changed middle into
// p.Root. There is none where it would do nothing, or where something else became of
// the small tables.
func (p *Plan) broadcast(middle Node, rules []Rule) *Broadcast {
	if p.Kind != Residual || p.Options.Pushdown != PushdownFull || p.Options.Disabled.Has(BroadcastJoin) {
		return nil
	}
	root, changed, err := broadcastJoin{}.Apply(middle)
	if err != nil || !changed {
		return nil
	}
	before, lookups := Scans(middle), Scans(root)
	if len(p.Scans) != len(before) {
		return nil
	}
	b := &Broadcast{Plan: &Plan{SQL: p.SQL, Schema: p.Schema, Snapshot: p.Snapshot, Options: p.Options, Kind: Residual}}
	if b.Plan.Root, b.Plan.Fired, err = applyRules(root, rules); err != nil || b.Plan.remote() != nil || len(b.Plan.Scans) != len(lookups) {
		return nil
	}
	b.Plan.Residual, err = Render(b.Plan.Root, fieldNames(p.Schema), b.Plan.scanSQL)
	if err != nil || !b.find(p, before, lookups) {
		return nil
	}
	return b
}

// find finds the first plan's scans in the other's, where they read the same.
func (b *Broadcast) find(p *Plan, before, lookups []*Scan) bool {
	for i, s := range lookups {
		if s.Joined == nil {
			at := slices.Index(before, s)
			if at < 0 || p.Scans[at].Spec.Hash() != b.Plan.Scans[i].Spec.Hash() {
				return false
			}
			b.Scans, b.Small = append(b.Scans, at), append(b.Small, nil)
			continue
		}
		small, ok := p.find(before, s.Joined)
		at := slices.Index(before, s.Joined.Large)
		if !ok || at < 0 {
			return false
		}
		b.Scans, b.Small = append(b.Scans, at), append(b.Small, small)
	}
	return true
}

// find are the positions of the small scans, which yield what lookups expect.
func (p *Plan) find(before []*Scan, j *Joined) (at []int, ok bool) {
	for _, l := range j.Lookups {
		i := slices.Index(before, l.Small)
		want, err := specOf(l.Small)
		if i < 0 || err != nil || p.Scans[i].Spec.Hash() != want.Hash() {
			return nil, false
		}
		at = append(at, i)
	}
	return at, true
}

// Width is about the bytes of a row that the scan yields.
func (r *RemoteScan) Width() float64 {
	sum := 0.0
	for _, f := range r.Spec.OutputSchema().Fields() {
		if t, ok := f.Type.(arrow.FixedWidthDataType); ok {
			sum += float64(t.BitWidth()) / 8
		} else {
			sum += 16
		}
	}
	return sum
}

// Groups is how many groups scanners may send for the scan, infinitely many for a
// scan of rows or when that is not known.
func (r *RemoteScan) Groups() float64 {
	if !r.Spec.Grouped() {
		return math.Inf(1)
	}
	_, groups, err := estimatedGroups(r.Table, r.Spec)
	if err != nil {
		return math.Inf(1)
	}
	return max(groups, 1)
}

// GroupsByTable bounds the groups of a scan with lookups by the keys that read only
// its table, infinitely many when that is not known, and names the lookups that
// other keys read.
func (r *RemoteScan) GroupsByTable() (groups float64, lookups []int) {
	own := r.Spec
	own.Lookups, own.GroupBy, own.Filter = nil, nil, nil
	for _, k := range r.Spec.GroupBy {
		of := r.lookupsOf(k.Expr)
		if lookups = append(lookups, of...); len(of) == 0 {
			own.GroupBy = append(own.GroupBy, k)
		}
	}
	own.Filter, _ = r.Spec.FilterParts()
	slices.Sort(lookups)
	lookups = slices.Compact(lookups)
	if len(own.GroupBy) == 0 {
		return 1, lookups
	}
	_, groups, err := estimatedGroups(r.Table, own)
	if err != nil {
		return math.Inf(1), lookups
	}
	return groups, lookups
}

// lookupsOf are the lookups whose columns an expression reads.
func (r *RemoteScan) lookupsOf(e pushdown.Expr) []int {
	var out []int
	for _, name := range columnNames(e) {
		for i, l := range r.Spec.Lookups {
			if slices.ContainsFunc(l.Columns, func(c pushdown.Column) bool { return c.Name == name }) {
				out = append(out, i)
			}
		}
	}
	return out
}
