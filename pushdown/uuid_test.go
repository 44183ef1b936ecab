package pushdown_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

func TestCanonicalUUID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a0b1c2d3-0000-ffff-9999-00000000000a":  true,
		"A0b1c2d3-0000-ffff-9999-00000000000a":  false,
		"a0b1c2d30000ffff999900000000000a":      false,
		"a0b1c2d3-0000-ffff-9999-00000000000":   false,
		"a0b1c2d3-0000-ffff-9999-00000000000a0": false,
		"a0b1c2d3-0000-ffff-9999-0000000000-a":  false,
		"a0b1c2d3-0000-ffff-9999_00000000000a":  false,
		"":                                      false,
	} {
		require.Equal(t, want, pushdown.CanonicalUUID(text), text)
	}
}

func TestMarkUUID(t *testing.T) {
	t.Parallel()
	text := arrow.Field{Name: "u", Type: arrow.BinaryTypes.String, Nullable: true}
	require.False(t, pushdown.IsUUID(text))
	marked := pushdown.MarkUUID(text)
	require.True(t, pushdown.IsUUID(marked))
	require.False(t, pushdown.IsUUID(text), "the field itself is not changed")
	marked.Type = arrow.PrimitiveTypes.Int64
	require.False(t, pushdown.IsUUID(marked), "only texts can be")
}
