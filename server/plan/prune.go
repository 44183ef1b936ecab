package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// prune takes out of a target the partitions in which no row can pass the
// filter, and those whose part of the answer is known. It needs statistics, or
// promises, of which the scanner can tell whether they still hold: the scan
// fails otherwise.
func (t *Target) prune(table *catalog.Table, spec *pushdown.Spec, buckets *bucketFilter) {
	version, promised := table.Versions[t.Scanner.Name], table.PromiseVersions[t.Scanner.Name]
	if version == "" && promised == "" {
		return
	}
	own := t.Partitions
	t.Partitions = nil
	for i, next := 0, 0; i < len(table.Partitions) && next < len(own); i++ {
		p := &table.Partitions[i]
		if p.ID != own[next] {
			continue
		}
		next++
		switch {
		case promised != "" && t.placePromised(p, spec, buckets):
			t.Version = cmp.Or(t.Version, promised)
		case version != "" && t.place(p, spec):
			t.Version = version // which covers the promises
		default:
			t.Partitions = append(t.Partitions, p.ID)
		}
	}
}

// placePromised leaves out a partition that by its owner's promise has no row
// for the filter, whatever its rows are by now.
func (t *Target) placePromised(p *catalog.Partition, spec *pushdown.Spec, buckets *bucketFilter) bool {
	columns := ruledOut(facts{rows: -1, promise: &p.Promise}, spec.Filter)
	if columns == nil && buckets.excludes(&p.Promise) {
		columns = p.Promise.Buckets.Columns
	}
	if columns == nil {
		return false
	}
	by := "the partition function of " + strings.Join(columns, ", ")
	t.Pruned, t.PrunedBy = append(t.Pruned, p.ID), union(t.PrunedBy, []string{by})
	return true
}

// place leaves out a partition because of its statistics.
func (t *Target) place(p *catalog.Partition, spec *pushdown.Spec) bool {
	if columns := ruledOut(factsOf(p), spec.Filter); columns != nil && len(p.Columns) > 0 {
		t.Pruned, t.PrunedBy = append(t.Pruned, p.ID), union(t.PrunedBy, columns)
		return true
	}
	if row := answer(p, spec); row != nil {
		t.Known, t.Answers = append(t.Known, p.ID), append(t.Answers, row)
		return true
	}
	return false
}

// confirmation is a scan of no rows, by which the scanner is asked for the
// version of the table.
func (t *Target) confirmation(table *catalog.Table) pushdown.Spec {
	return pushdown.Spec{
		Table: table.ID(), Partitions: t.Unread()[:1], Limit: 0,
		Columns: []pushdown.Column{tableColumn(table, narrowest(table))},
	}
}

// ruledOut names the columns of which the facts prove that no row passes the
// filter; nil when some may.
func ruledOut(f facts, filter []pushdown.Expr) []string {
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

// prunedText is "3 of 24 (20 pruned by created_at, 1 from statistics)", or "" when all
// are read.
func (s *RemoteScan) prunedText() string {
	pruned, known := 0, 0
	var by []string
	for i := range s.Targets {
		pruned += len(s.Targets[i].Pruned)
		known += len(s.Targets[i].Known)
		by = union(by, s.Targets[i].PrunedBy)
	}
	var parts []string
	if pruned > 0 {
		slices.Sort(by)
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%d pruned by %s", pruned, strings.Join(by, ", ")), " by "))
	}
	if known > 0 {
		parts = append(parts, fmt.Sprintf("%d from statistics", known))
	}
	if len(parts) == 0 {
		return ""
	}
	all := len(s.Table.Partitions)
	return fmt.Sprintf("%d of %d (%s)", all-pruned-known, all, strings.Join(parts, ", "))
}
