package plan

import (
	"math"

	"github.com/tributary-db/tributary/pushdown/sketch"
	"github.com/tributary-db/tributary/server/catalog"
)

// distinctIn is about how many values a column has in some partitions, without
// NULL, by what their owners counted: infinitely many when one of them did not.
// Sketches are put together; without them no value is taken to be in two.
func distinctIn(parts []*catalog.Partition, column string) float64 {
	var all *sketch.Sketch
	most, sketched := 0.0, true
	for _, p := range parts {
		stats, known := p.Columns[column]
		switch {
		case p.Rows == 0 || known && p.Rows > 0 && stats.Nulls == p.Rows:
			continue
		case stats.Distinct <= 0:
			return math.Inf(1)
		}
		most += float64(stats.Distinct)
		s := sketch.Parse(stats.Sketch)
		switch {
		case s == nil || len(stats.Sketch) == 0:
			sketched = false
		case all == nil:
			all = s
		default:
			all.Merge(s)
		}
	}
	if all == nil || !sketched {
		return most
	}
	return min(most, math.Ceil(all.Count()))
}

// DistinctValues is about how many values a column of a table has, infinitely many when
// that is not known.
func DistinctValues(t *catalog.Table, column string) float64 {
	parts := make([]*catalog.Partition, len(t.Partitions))
	for i := range parts {
		parts[i] = &t.Partitions[i]
	}
	return distinctIn(parts, column)
}
