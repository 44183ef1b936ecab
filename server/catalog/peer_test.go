package catalog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
)

func TestPatience(t *testing.T) {
	t.Parallel()
	p := newPeer("127.0.0.1:1")
	require.Equal(t, 10*time.Second, p.patience(time.Second), "the first greeting")
	p.hello = &codec.Hello{}
	require.Equal(t, time.Second, p.patience(time.Second))
	p.took(2 * time.Second)
	require.Equal(t, 8*time.Second, p.patience(time.Second), "a scanner of many tables")
}
