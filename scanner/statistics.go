package scanner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/status"
)

const (
	// maxStatistics bounds the column statistics in one Hello.
	maxStatistics = 1 << 15
	// maxBoundBytes bounds a string in them.
	maxBoundBytes = 64
	// maxSketchBytes bounds the sketches in one Hello.
	maxSketchBytes = 256 << 10
)

// tableVersion sums up the versions of all partitions. It is empty when none has
// one, and whole when all have.
func tableVersion(partitions []Partition) (version string, whole bool) {
	any, whole := false, true
	sum, text := sha256.New(), []byte(nil)
	for _, p := range partitions {
		any, whole = any || p.Version != "", whole && p.Version != ""
		// Every scan compares versions, so this is not left to fmt.
		text = append(strconv.AppendQuote(text[:0], p.ID), ' ')
		text = append(strconv.AppendInt(text, p.Rows, 10), ' ')
		text = append(strconv.AppendQuote(text, p.Version), '\n')
		_, _ = sum.Write(append(text, p.Promise.Text()...)) // cannot fail
	}
	if !any {
		return "", false
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), whole
}

// compareVersion fails when the table is not what the coordinator knows of it.
// It is called before the source is asked for rows: what changes later is
// read as it then is, and what is left out had no rows at this moment.
func (s *Scanner) compareVersion(ctx context.Context, t *table, want string) error {
	if want == "" {
		return nil
	}
	partitions, err := s.partitions(ctx, t)
	if err != nil {
		return err
	}
	if have, _ := tableVersion(partitions); have != want && promiseVersion(partitions) != want {
		return status.New(status.Aborted, "table %s of scanner %q has changed since the query was planned: repeat it", t.name, s.cfg.Name)
	}
	return nil
}

// statistics are those of a partition that a coordinator can use.
func statistics(p *Partition, schema *arrow.Schema) map[string]codec.ColumnStats {
	if p.Version == "" || len(p.Columns) == 0 {
		return nil
	}
	out := make(map[string]codec.ColumnStats, len(p.Columns))
	for _, f := range schema.Fields() {
		if stats, ok := p.Columns[f.Name]; ok {
			out[f.Name] = usable(stats, pushdown.ValueType(f.Type))
		}
	}
	return out
}

// usable drops bounds that are not values of the column, or very long.
func usable(s codec.ColumnStats, t arrow.DataType) codec.ColumnStats {
	if !isBound(s.Min, t) {
		s.Min, s.Exact = nil, false
	}
	if !isBound(s.Max, t) {
		s.Max, s.Exact = nil, false
	}
	return s
}

func isBound(v scalar.Scalar, t arrow.DataType) bool {
	if v == nil || !v.IsValid() || !arrow.TypeEqual(v.DataType(), t) {
		return false
	}
	if _, known := pushdown.FamilyOf(t); !known {
		return false
	}
	text, isText := v.(scalar.BinaryScalar)
	return !isText || len(text.Data()) <= maxBoundBytes
}

// limitSketches keeps a Hello small: tables whose sketches would make it too large
// only say how many values there are. The statistics are the Hello's own.
func limitSketches(tables []codec.Table) {
	left := maxSketchBytes
	for i := range tables {
		bytes := 0
		for _, p := range tables[i].Partitions {
			for _, c := range p.Columns {
				bytes += len(c.Sketch)
			}
		}
		if bytes <= left {
			left -= bytes
			continue
		}
		for _, p := range tables[i].Partitions {
			for name, c := range p.Columns {
				c.Sketch = nil
				p.Columns[name] = c
			}
		}
	}
}

// limitStatistics keeps a Hello small: tables that would make it too large go
// without statistics and promises.
func limitStatistics(tables []codec.Table) {
	left := maxStatistics
	for i := range tables {
		t, n := &tables[i], 0
		for _, p := range t.Partitions {
			n += len(p.Columns) + promised(&p.Promise)
		}
		if n <= left {
			left -= n
			continue
		}
		for j := range t.Partitions {
			t.Partitions[j].Columns, t.Partitions[j].Promise = nil, partition.Promise{}
		}
	}
}
