package query

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/widen"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/plan"
)

// Direct is the read of a part that clients may make at its scanner, and nil for
// a part that only a coordinator can serve: the scanner offers none, or cannot
// make the promised types of what it has.
func (st *Statement) Direct(ctx context.Context, p *plan.Part) *codec.DirectRead {
	if p.Location == "" || len(p.Columns) != st.Schema.NumFields() {
		return nil
	}
	rows := p.Spec.OutputSchema()
	for i, at := range p.Columns {
		if !sameValues(rows.Field(at).Type, p.Schema.Field(i).Type) || !sameValues(p.Schema.Field(i).Type, st.Schema.Field(i).Type) ||
			!sameValues(rows.Field(at).Type, st.Schema.Field(i).Type) {
			return nil
		}
	}
	return &codec.DirectRead{
		User: auth.UserOf(ctx).Name, Scanner: p.Scanner, Epoch: p.Epoch, Spec: p.Spec,
		TableVersion: p.Version, SchemaVersion: p.SchemaVersion, Columns: p.Columns, Schema: st.Schema,
	}
}

// sameValues reports whether a scanner makes the values of one type from those
// of the other as the coordinator would.
func sameValues(from, to arrow.DataType) bool {
	return arrow.TypeEqual(from, to) || widen.Holds(to, from) && !arrow.IsFloating(to.ID())
}
