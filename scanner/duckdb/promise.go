package duckdb

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	promises "github.com/tributary-db/tributary/pushdown/partition"
)

// promise is that all rows of a partition have the values in the names of its
// files' directories. The table's columns may be wider than the keys, because a
// file elsewhere has such a column; then nothing is promised of them.
func (p *partition) promise(columns []arrow.Field) promises.Promise {
	var out promises.Promise
	for _, f := range columns {
		if values := p.hiveValues(f); values != nil {
			if out.Values == nil {
				out.Values = map[string][]scalar.Scalar{}
			}
			out.Values[f.Name] = values
		}
	}
	return out
}

// hiveValues are nil for a column that a file has rows of.
func (p *partition) hiveValues(f arrow.Field) []scalar.Scalar {
	var out []scalar.Scalar
	keyed := false
	for _, d := range p.origins {
		v, key, ok := d.hiveValue(f)
		if !ok {
			return nil
		}
		keyed = keyed || key
		if !promises.Among(out, v) {
			out = append(out, v)
		}
	}
	if !keyed || len(out) > promises.MaxValues {
		return nil
	}
	return out
}

// hiveValue is the value of a column in all rows of a file, if its directories
// say so, or because it has no such column at all.
func (d *described) hiveValue(f arrow.Field) (v scalar.Scalar, key, ok bool) {
	for _, h := range d.hive {
		if h.name == f.Name {
			v, ok = h.scalar(), arrow.TypeEqual(h.typ.arrow, f.Type)
			return v, true, ok
		}
	}
	return scalar.MakeNullScalar(f.Type), false, !d.has(f.Name)
}

func (h hiveColumn) scalar() scalar.Scalar {
	switch {
	case h.null:
		return scalar.MakeNullScalar(h.typ.arrow)
	case h.typ.number == nil:
		return scalar.NewStringScalar(h.text)
	}
	n, _ := h.typ.number(h.text)
	return boxed(big.NewInt(n), h.typ.arrow)
}
