package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// prune takes out of a target the partitions in which no row can pass the
// filter. It needs statistics of which the scanner can tell whether they still
// hold: the scan fails otherwise. One partition always stays, because a scanner
// that is not asked cannot tell.
func (t *Target) prune(table *catalog.Table, filter []pushdown.Expr) {
	version := table.Versions[t.Scanner.Name]
	if version == "" || len(filter) == 0 {
		return
	}
	left, ruled, by := t.divide(table, filter)
	if len(left) == 0 && len(ruled) > 0 {
		at := leastRows(ruled)
		left, ruled = ruled[at:at+1], slices.Concat(ruled[:at], ruled[at+1:])
	}
	if len(ruled) == 0 {
		return
	}
	t.Version, t.PrunedBy = version, by
	t.Partitions, t.Pruned = partitionIDs(left), partitionIDs(ruled)
}

// divide tells the target's partitions that may have a row from those that are
// ruled out, by the statistics of the columns that it names.
func (t *Target) divide(table *catalog.Table, filter []pushdown.Expr) (left, ruled []*catalog.Partition, by []string) {
	own := make(map[string]bool, len(t.Partitions))
	for _, id := range t.Partitions {
		own[id] = true
	}
	for i := range table.Partitions {
		p := &table.Partitions[i]
		if !own[p.ID] {
			continue
		}
		if columns := ruledOut(p, filter); columns != nil {
			ruled, by = append(ruled, p), union(by, columns)
		} else {
			left = append(left, p)
		}
	}
	return left, ruled, by
}

// leastRows is the position of the partition with the fewest rows.
func leastRows(of []*catalog.Partition) int {
	best := 0
	for i, p := range of {
		if p.Rows < of[best].Rows {
			best = i
		}
	}
	return best
}

func partitionIDs(of []*catalog.Partition) []string {
	return mapSlice(of, func(p *catalog.Partition) string { return p.ID })
}

// ruledOut names the columns whose statistics prove that no row of the partition
// passes the filter; nil when some may.
func ruledOut(p *catalog.Partition, filter []pushdown.Expr) []string {
	if len(p.Columns) == 0 {
		return nil
	}
	f := facts{columns: p.Columns, rows: p.Rows}
	for _, e := range filter {
		if f.eval(e)&mayTrue == 0 {
			return columnNames(e)
		}
	}
	return nil
}

// columnNames are the names of the columns in e; never nil.
func columnNames(e pushdown.Expr) []string {
	out := []string{}
	pushdown.Walk(e, func(e pushdown.Expr) bool {
		if c, ok := e.(pushdown.Column); ok {
			out = union(out, []string{c.Name})
		}
		return true
	})
	return out
}

// union adds what is not there yet.
func union(to, add []string) []string {
	for _, s := range add {
		if !slices.Contains(to, s) {
			to = append(to, s)
		}
	}
	return to
}

// pruned counts the partitions that are not read, and names the columns whose
// statistics excluded them.
func (s *RemoteScan) pruned() (n int, by []string) {
	for i := range s.Targets {
		n += len(s.Targets[i].Pruned)
		by = union(by, s.Targets[i].PrunedBy)
	}
	slices.Sort(by)
	return n, by
}

// prunedText is "3 of 24 (21 pruned by created_at)", or "" when all are read.
func (s *RemoteScan) prunedText() string {
	n, by := s.pruned()
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d (%d pruned", len(s.Table.Partitions)-n, len(s.Table.Partitions), n)
	if len(by) > 0 {
		text += " by " + strings.Join(by, ", ")
	}
	return text + ")"
}
