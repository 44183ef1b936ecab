package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/tributary-db/tributary/pushdown"
)

// Explain is the text of the plan: what runs where, and why not more of it at
// the scanners.
func (p *Plan) Explain() string { return p.explain(nil) }

// ExplainAnalyze is Explain with what was measured while the plan ran.
func (p *Plan) ExplainAnalyze(s Stats) string { return p.explain(&s) }

func (p *Plan) explain(stats *Stats) string {
	w := &explainer{stats: stats}
	w.line(0, "plan: %s (%s)", p.Kind, kindText(p.Kind))
	w.line(0, "pushdown: %s", p.Options.Pushdown)
	if p.Options.Disabled != "" {
		w.line(0, "disabled rules: %s", p.Options.Disabled)
	}
	for _, r := range p.Reasons {
		w.line(0, "reason: %s", r)
	}
	if len(p.Fired) > 0 {
		w.line(0, "rules: %s", strings.Join(p.Fired, ", "))
	}
	if p.Root != nil {
		w.line(0, "tree:")
		w.block(1, Print(p.Root))
	}
	for _, s := range p.Scans {
		w.scan(s)
	}
	if p.Kind == Residual {
		w.line(0, "coordinator SQL%s:", mergeText(p.Merge))
		w.block(1, p.Residual)
	}
	if p.Broadcast != nil {
		w.broadcast(p)
	}
	if stats != nil {
		w.line(0, "total: %s", countsText(stats.Total()))
	}
	return w.b.String()
}

func mergeText(m *Merge) string {
	if m == nil {
		return ""
	}
	return " (for many groups; few are merged without it)"
}

func kindText(k PlanKind) string {
	switch k {
	case PassThrough:
		return "batches of the scan are passed on"
	case Residual:
		return "the coordinator runs SQL over the scans"
	case Original:
		return "the coordinator runs the statement over streamed tables"
	case Local:
		return "the coordinator answers alone"
	}
	return "unknown"
}

// explainer collects indented lines.
type explainer struct {
	b     strings.Builder
	stats *Stats
}

func (w *explainer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *explainer) block(depth int, text string) {
	for line := range strings.Lines(text) {
		w.line(depth, "%s", strings.TrimRight(line, "\n"))
	}
}

func (w *explainer) scan(s *RemoteScan) {
	w.line(0, "%s: %s, %s", s.ID, s.Table.ID(), rungText(&s.Spec))
	w.spec(1, &s.Spec)
	if s.Whole != "" {
		w.line(1, "groups are whole: %s", s.Whole)
	}
	if text := s.prunedText(); text != "" {
		w.line(1, "partitions: %s", text)
	}
	for _, r := range s.Reasons {
		w.line(1, "not pushed: %s", r)
	}
	if len(s.Targets) == 0 {
		w.line(1, "no partitions: nothing to read")
	}
	for i := range s.Targets {
		w.target(s, i)
	}
}

// broadcast shows the scans with lookups, which may take the place of others.
func (w *explainer) broadcast(p *Plan) {
	for i, s := range p.Broadcast.Plan.Scans {
		small := mapSlice(p.Broadcast.Small[i], func(at int) string { return p.Scans[at].ID })
		if len(small) == 0 {
			continue
		}
		other := *s
		other.ID = fmt.Sprintf("or in place of %s, by what %s yield", p.Scans[p.Broadcast.Scans[i]].ID, strings.Join(small, ", "))
		w.scan(&other)
	}
}

// rungText names what is wanted of the scanners.
func rungText(s *pushdown.Spec) string {
	switch {
	case s.Reduce != nil:
		return "complete aggregate"
	case s.Grouped():
		return "partial aggregate"
	case len(s.OrderBy) > 0:
		return "top-N"
	case s.Limit >= 0:
		return "limited rows"
	case len(s.Filter) > 0:
		return "filtered rows"
	}
	return "rows"
}

func (w *explainer) spec(depth int, s *pushdown.Spec) {
	if !s.Grouped() {
		w.line(depth, "columns: %s", strings.Join(mapSlice(s.Columns, func(c pushdown.Column) string { return c.Name }), ", "))
	}
	if len(s.Filter) > 0 {
		w.line(depth, "filter: %s", strings.Join(mapSlice(s.Filter, pushdown.ExprString), " AND "))
	}
	for _, l := range s.Lookups {
		w.line(depth, "lookup: %s", l.String())
	}
	if len(s.GroupBy) > 0 {
		w.line(depth, "group by: %s", strings.Join(mapSlice(s.GroupBy, func(k pushdown.NamedExpr) string { return pushdown.ExprString(k.Expr) }), ", "))
	}
	if len(s.Aggregates) > 0 {
		w.line(depth, "aggregates: %s", strings.Join(mapSlice(s.Aggregates, aggregateText), ", "))
	}
	if s.Reduce != nil {
		w.reduction(depth, s.Reduce)
	}
	if len(s.OrderBy) > 0 {
		w.line(depth, "order by: %s", strings.Join(mapSlice(s.OrderBy, sortText), ", "))
	}
	if s.Limit >= 0 {
		w.line(depth, "limit: %d", s.Limit)
	}
}

// reduction names keys k0, k1, … and aggregates a0, a1, ….
func (w *explainer) reduction(depth int, r *pushdown.Reduction) {
	if len(r.Filter) > 0 {
		w.line(depth, "having: %s", strings.Join(mapSlice(r.Filter, pushdown.ExprString), " AND "))
	}
	if len(r.OrderBy) > 0 {
		w.line(depth, "first groups by: %s", strings.Join(mapSlice(r.OrderBy, sortText), ", "))
	}
	if r.Limit != pushdown.NoLimit {
		w.line(depth, "groups: %d", r.Limit)
	}
	if r.Apart != "" {
		w.line(depth, "groups in which %s is NULL are merged apart", r.Apart)
	}
}

func aggregateText(a pushdown.Aggregate) string {
	name := a.Func.String()
	out := name + "(*)"
	if a.Arg != nil {
		out = name + "(" + pushdown.ExprString(a.Arg) + ")"
	}
	if a.Filter != nil {
		out += " filter (" + pushdown.ExprString(a.Filter) + ")"
	}
	return out
}

func sortText(k pushdown.SortKey) string {
	return k.Column.Name + SortKey{Descending: k.Descending, NullsFirst: k.NullsFirst}.direction()
}

func (w *explainer) target(s *RemoteScan, i int) {
	t := &s.Targets[i]
	what := partitionsText(t.Partitions) + ", runs " + remoteText(&t.Split.Remote)
	if len(t.Partitions) == 0 {
		what = "reads nothing, confirms its statistics"
	}
	w.line(1, "scanner %s at %s: %s", t.Scanner.Name, t.Scanner.Addr, what)
	if t.Split.Residual != nil {
		w.line(2, "left to the coordinator: %s", t.Split.Residual.String())
	}
	for _, r := range t.Split.Reasons {
		w.line(2, "because: %s", r)
	}
	if m := w.measured(s.ID, i); m != nil {
		w.line(2, "measured: %s", targetText(m))
	}
}

// remoteText says what the scanner runs.
func remoteText(s *pushdown.Spec) string {
	var parts []string
	if len(s.Filter) > 0 {
		parts = append(parts, "filter")
	}
	if len(s.Lookups) > 0 {
		parts = append(parts, "lookup")
	}
	switch {
	case s.Reduce != nil:
		parts = append(parts, "whole aggregate")
	case s.Grouped():
		parts = append(parts, "aggregate")
	case len(s.OrderBy) > 0:
		parts = append(parts, "top-N")
	case s.Limit >= 0:
		parts = append(parts, "limit")
	}
	if len(parts) == 0 {
		return "rows"
	}
	return strings.Join(parts, " + ")
}

func partitionsText(ids []string) string {
	if len(ids) == 1 {
		return "1 partition"
	}
	return fmt.Sprintf("%d partitions", len(ids))
}

// measured finds the numbers of a target, nil without them.
func (w *explainer) measured(scan string, i int) *TargetStats {
	if w.stats == nil {
		return nil
	}
	for _, s := range w.stats.Scans {
		if s.ID == scan && i < len(s.Targets) {
			return &s.Targets[i]
		}
	}
	return nil
}

func targetText(t *TargetStats) string {
	mode := t.Mode
	if mode == "" {
		mode = "nothing received"
	}
	out := fmt.Sprintf("mode %s, %s, %s", mode, countsText(t.Counts), t.Duration.Round(10*time.Microsecond))
	if t.Retries > 0 {
		out += fmt.Sprintf(", %d retries on replicas", t.Retries)
	}
	return out
}

func countsText(c Counts) string {
	text := fmt.Sprintf("%d rows scanned, %d rows and %d bytes received in %d batches", c.RowsScanned, c.RowsReceived, c.BytesReceived, c.Batches)
	if c.RowsDropped > 0 {
		text += fmt.Sprintf(", %d rows dropped by filters that came later", c.RowsDropped)
	}
	return text
}
