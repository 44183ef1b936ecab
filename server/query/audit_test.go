package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestUserLimit(t *testing.T) {
	t.Parallel()
	l := newUserLimit(2)
	first, err := l.enter("ann")
	require.NoError(t, err)
	second, err := l.enter("ann")
	require.NoError(t, err)
	_, err = l.enter("ann")
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	bob, err := l.enter("bob")
	require.NoError(t, err, "another user is not disturbed")
	first()
	third, err := l.enter("ann")
	require.NoError(t, err)
	for _, leave := range []func(){second, third, bob} {
		leave()
	}
	require.Empty(t, l.running)
	free := newUserLimit(0)
	for range 100 {
		_, err := free.enter("ann")
		require.NoError(t, err)
	}
}
