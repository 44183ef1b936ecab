package adapt

import (
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// memoryKey is what a scan is remembered by: the table as it is, and what is asked
// of it. A collision of hashes costs a wrong estimate.
type memoryKey struct{ table, asked uint64 }

// learnable: what the scan yields in the end tells what its filter keeps.
func learnable(s *plan.RemoteScan) bool {
	return comparable(s) && s.Spec.Limit == pushdown.NoLimit && len(s.Spec.OrderBy) == 0
}

// comparable: others may have been like it. What is broadcast is different each
// time, and of an aggregate without keys nothing needs to be remembered.
func comparable(s *plan.RemoteScan) bool {
	return len(s.Spec.Lookups) == 0 && (!s.Spec.Grouped() || len(s.Spec.GroupBy) > 0)
}

// recalledBy are those of the scan and of its shape.
func recalledBy(s *plan.RemoteScan) (exact, shape memoryKey) {
	exact = exactly(s)
	asked := yieldOf(&s.Spec)
	text := pushdown.FilterShape(asked.Filter)
	asked.Filter = nil
	return exact, memoryKey{exact.table, xxh3.HashString(strconv.FormatUint(asked.Hash(), 16) + " shape " + text)}
}

// exactly is that of the scan alone.
func exactly(s *plan.RemoteScan) memoryKey {
	asked := yieldOf(&s.Spec)
	return memoryKey{tableHash(s), asked.Hash()}
}

// yieldOf is the part of a specification on which the number of rows depends
// before its limit.
func yieldOf(spec *pushdown.Spec) pushdown.Spec {
	out := pushdown.Spec{Table: spec.Table, Filter: spec.Filter, GroupBy: spec.GroupBy, Reduce: spec.Reduce, Limit: pushdown.NoLimit}
	if spec.Reduce != nil {
		out.Aggregates = spec.Aggregates
	}
	return out
}

// tableHash changes with the rows of a table as far as that can be seen. Users who
// see other rows share nothing.
func tableHash(s *plan.RemoteScan) uint64 {
	text := strconv.AppendQuote(nil, s.Table.ID()+" "+s.Table.Rules())
	for i := range s.Targets {
		n := s.Targets[i].Scanner
		for _, part := range []string{n.Name, n.Epoch, s.Table.Versions[n.Name], s.Table.Schemas[n.Name].Version} {
			text = strconv.AppendQuote(text, part)
		}
	}
	rows := int64(0)
	for i := range s.Table.Partitions {
		rows += s.Table.Partitions[i].Rows
	}
	text = strconv.AppendInt(text, int64(len(s.Table.Partitions)), 10)
	return xxh3.Hash(strconv.AppendInt(append(text, ' '), rows, 10))
}
