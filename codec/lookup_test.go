package codec

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// TestBadRelations: what is malformed is refused, and never read past its end.
func TestBadRelations(t *testing.T) {
	t.Parallel()
	good := pushdown.Lookup{Columns: relationColumns, Relation: relation()}
	header, body, err := encodeRelation(good)
	require.NoError(t, err)
	_, err = decodeRelation(relationColumns, header, body)
	require.NoError(t, err)

	schema, err := (&encoder{}).start(relationSchema(relationColumns))
	require.NoError(t, err)
	dictionary := []pushdown.Column{col("d", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String})}
	for name, c := range map[string]struct {
		columns      []pushdown.Column
		header, body []byte
		code         status.Code
	}{
		"a short body":    {relationColumns, header, body[:len(body)/2], status.DataLoss},
		"no header":       {relationColumns, header[:3], body, status.DataLoss},
		"a schema":        {relationColumns, schema.data.DataHeader, nil, status.DataLoss},
		"another column":  {append(relationColumns[:3:3], col("more", arrow.PrimitiveTypes.Int64)), header, body, status.DataLoss},
		"a dictionary":    {dictionary, header, body, status.InvalidArgument},
		"too much":        {relationColumns, header, make([]byte, maxRelationBody+1), status.ResourceExhausted},
		"a list":          {[]pushdown.Column{col("l", arrow.ListOf(arrow.PrimitiveTypes.Int8))}, header, body, status.InvalidArgument},
		"offsets astray":  {relationColumns, header, bytes.Repeat([]byte{0x7f}, len(body)), status.DataLoss},
		"nothing at all":  {relationColumns, []byte{}, nil, status.DataLoss},
		"a wider integer": {append([]pushdown.Column{col("x", arrow.BinaryTypes.LargeString)}, relationColumns[1:]...), header, body, status.DataLoss},
	} {
		_, err := decodeRelation(c.columns, c.header, c.body)
		require.Equal(t, c.code, status.CodeOf(err), "%s: %v", name, err)
	}
}
