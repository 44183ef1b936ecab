package scanner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
)

// schemaVersion tells the schemas of a table apart.
func schemaVersion(schema *arrow.Schema) string {
	sum := sha256.New()
	for _, f := range schema.Fields() {
		// Writing to a hash cannot fail.
		_, _ = fmt.Fprintf(sum, "%q %s\n", f.Name, f.Type)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// compareSchema fails when the schema is not what the coordinator knows.
func (s *Scanner) compareSchema(t *table, schema *arrow.Schema, want string) error {
	if want == "" || schemaVersion(schema) == want {
		return nil
	}
	return status.New(status.Aborted, "the columns of table %s of scanner %q have changed: repeat the query", t.name, s.cfg.Name)
}

// federated is the schema over which a spec is made: other scanners may have
// wider columns, and some that this one lacks. A coordinator that did not say
// which schema it knows must not be given NULLs for a column that is gone.
func federated(own *arrow.Schema, spec *pushdown.Spec, known bool) *arrow.Schema {
	fields := own.Fields()
	for _, c := range spec.ReadColumns() {
		at := own.FieldIndices(c.Name)
		switch {
		case !known || c.DataType == nil:
		case len(at) == 0:
			fields = append(fields, c.Field())
		case !arrow.TypeEqual(fields[at[0]].Type, c.DataType) && widen.Holds(c.DataType, fields[at[0]].Type):
			fields[at[0]].Type = c.DataType
		}
	}
	return arrow.NewSchema(fields, nil)
}

// widening is what reads a spec whose columns are not those of the table: the
// source itself if it can, otherwise its rows are widened here.
func (s *Scanner) widening(t *table, own *arrow.Schema, spec *pushdown.Spec) Source {
	able, _ := t.Source.(Widener)
	for _, c := range spec.ReadColumns() {
		at := own.FieldIndices(c.Name)
		fits := len(at) > 0 && arrow.TypeEqual(own.Field(at[0]).Type, c.DataType)
		if !fits && (able == nil || !able.Widens(c.DataType)) {
			return widened{Source: t.Source, own: own, mem: s.cfg.Alloc}
		}
	}
	return t.Source
}

// widened is a source that only yields rows, of wider columns than its own.
type widened struct {
	Source
	own *arrow.Schema
	mem memory.Allocator
}

// Capabilities is empty: whatever the source can do, it does to its own types.
func (w widened) Capabilities() pushdown.Capabilities { return pushdown.Capabilities{} }

// Scan asks the source for those columns that it has.
func (w widened) Scan(ctx context.Context, spec pushdown.Spec) (Reader, error) {
	narrow := spec
	narrow.Columns = nil
	for _, c := range spec.Columns {
		if at := w.own.FieldIndices(c.Name); len(at) > 0 {
			narrow.Columns = append(narrow.Columns, pushdown.Column{Name: c.Name, DataType: w.own.Field(at[0]).Type})
		}
	}
	if len(narrow.Columns) == 0 { // the number of rows still matters
		f := w.own.Field(0)
		narrow.Columns = []pushdown.Column{{Name: f.Name, DataType: f.Type}}
	}
	r, err := w.Source.Scan(ctx, narrow)
	if err != nil {
		return nil, err
	}
	return &widenedReader{Reader: r, schema: spec.OutputSchema(), mem: w.mem}, nil
}

type widenedReader struct {
	Reader
	schema *arrow.Schema
	mem    memory.Allocator
}

func (r *widenedReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return widen.Batch(batch, r.schema, r.mem)
}
