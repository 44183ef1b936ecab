package scanner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/partition"
)

// promiseVersion sums up which partitions there are and what is promised of
// them, whatever their rows. It is empty when nothing is, and never a table
// version.
func promiseVersion(partitions []Partition) string {
	any, sum := false, sha256.New()
	for _, p := range partitions {
		any = any || !p.Promise.Empty()
		// Writing to a hash cannot fail.
		_, _ = fmt.Fprintf(sum, "%q\n%s", p.ID, p.Promise.Text())
	}
	if !any {
		return ""
	}
	return "promise " + hex.EncodeToString(sum.Sum(nil)[:16])
}

// promised is how much room a promise takes in Hello.
func promised(p *partition.Promise) int {
	n := 0
	for _, values := range p.Values {
		n += len(values)
	}
	if p.Buckets != nil {
		n += 1 + len(p.Buckets.Holds)/8
	}
	return n
}

// checkPromise finds promises that cannot be kept, and those that the
// partition's own statistics show to be broken.
func checkPromise(p *Partition, schema *arrow.Schema) error {
	if err := p.Promise.Validate(schema); err != nil {
		return err
	}
	for name, stats := range p.Columns {
		if values, ok := p.Promise.Values[name]; ok && stats.Nulls > 0 && !partition.Among(values, nil) {
			return partition.Broken(name, "NULL")
		}
		for _, v := range occurring(stats) {
			if !mayHave(&p.Promise, name, v) {
				return partition.Broken(name, v.String())
			}
		}
	}
	return nil
}

// occurring are values that the column has.
func occurring(s codec.ColumnStats) []scalar.Scalar {
	if !s.Exact {
		return nil
	}
	return slices.DeleteFunc([]scalar.Scalar{s.Min, s.Max}, func(v scalar.Scalar) bool { return v == nil || !v.IsValid() })
}

func mayHave(p *partition.Promise, column string, v scalar.Scalar) bool {
	if values, ok := p.Values[column]; ok && !partition.Among(values, v) {
		return false
	}
	b := p.Buckets
	if b == nil || len(b.Columns) != 1 || b.Columns[0] != column {
		return true
	}
	bucket, ok := b.Bucket(v)
	return !ok || slices.Contains(b.Holds, bucket)
}
