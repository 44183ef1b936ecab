package flightsql

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/query"
)

func tableOf(name string, dt arrow.DataType) *catalog.Table {
	return &catalog.Table{Schema: "main", Name: name, Arrow: arrow.NewSchema([]arrow.Field{{Name: "a", Type: dt}}, nil)}
}

func TestSchemaCache(t *testing.T) {
	t.Parallel()
	var c schemaCache
	get := func(table *catalog.Table, types query.ResultTypes) *arrow.Schema {
		s, err := flight.DeserializeSchema(c.schemas([]*catalog.Table{table}, 1, types, memory.DefaultAllocator)[0], memory.DefaultAllocator)
		require.NoError(t, err)
		return s
	}
	u8 := tableOf("t", arrow.PrimitiveTypes.Uint8)
	require.Equal(t, arrow.PrimitiveTypes.Int16, get(u8, query.ClientTypes).Field(0).Type)
	require.Equal(t, arrow.PrimitiveTypes.Uint8, get(u8, query.RawTypes).Field(0).Type)
	first := c.known[schemaKey{"main.t", query.RawTypes}]
	get(tableOf("t", arrow.PrimitiveTypes.Uint8), query.RawTypes)
	require.Equal(t, &first.raw[0], &c.known[schemaKey{"main.t", query.RawTypes}].raw[0], "an equal schema is not encoded again")
	require.Equal(t, arrow.PrimitiveTypes.Float64, get(tableOf("t", arrow.PrimitiveTypes.Float64), query.RawTypes).Field(0).Type)
	broken := &catalog.Table{Schema: "main", Name: "broken"}
	require.Zero(t, get(broken, query.ClientTypes).NumFields())
	for i := range 3000 {
		get(tableOf(fmt.Sprint(i), arrow.PrimitiveTypes.Int8), query.RawTypes)
	}
	require.Less(t, len(c.known), 1100, "tables that are gone leave")
}
