package scanner

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableVersion(t *testing.T) {
	t.Parallel()
	version, whole := tableVersion(nil)
	require.Empty(t, version)
	require.False(t, whole)
	parts := []Partition{{ID: "a", Rows: 3, Version: "1"}, {ID: "b \"c\"\n", Rows: -1, Version: "ä\x00"}, {ID: "d", Rows: 1 << 40}}
	sum := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(sum, "%q %d %q\n%s", p.ID, p.Rows, p.Version, p.Promise.Text())
	}
	version, whole = tableVersion(parts)
	require.Equal(t, hex.EncodeToString(sum.Sum(nil)[:16]), version, "coordinators know it from scanners of other releases")
	require.False(t, whole)
	seen := map[string]bool{version: true}
	for i := range parts {
		for _, change := range []func(*Partition){
			func(p *Partition) { p.ID += "x" }, func(p *Partition) { p.Rows++ }, func(p *Partition) { p.Version += "x" },
		} {
			other := append([]Partition(nil), parts...)
			change(&other[i])
			version, _ := tableVersion(other)
			require.False(t, seen[version])
			seen[version] = true
		}
	}
}
