package duckdb

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

// kept counts the previews of the table as it is now.
func kept(t testing.TB, s *Source) int {
	t.Helper()
	snap, err := s.refresh(t.Context())
	require.NoError(t, err)
	return len(snap.previews.kept)
}

func TestPreviewsAreKept(t *testing.T) {
	t.Parallel()
	s, dir := keeping(t, 0, "SELECT i AS id FROM range(5000) r(i)")
	spec := tableSpec(t, s)
	spec.Limit = 100
	first := rows(t, s, spec)
	require.Len(t, first, 100)
	require.Equal(t, 1, kept(t, s))
	r, err := s.Scan(t.Context(), spec)
	require.NoError(t, err)
	require.IsType(t, &replay{}, r)
	require.NoError(t, r.Close())
	require.Equal(t, first, rows(t, s, spec))

	settle(t, write(t, s.cfg.Engine, "SELECT i + 7000 AS id FROM range(200) r(i)", dir, "a.parquet"))
	require.Zero(t, kept(t, s), "the file is another")
	require.NotEqual(t, first, rows(t, s, spec))
}

func TestPreviewsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := keeping(t, 0, "SELECT i AS id FROM range(5000) r(i)")
	spec := tableSpec(t, s)
	for spec.Limit = range int64(3 * previewCount) {
		require.Len(t, rows(t, s, spec), int(spec.Limit))
	}
	require.Equal(t, previewCount, kept(t, s))
}

func TestWhatIsNoPreview(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	settle(t, write(t, e, "SELECT i AS id, repeat('x', 1000) AS text FROM range(5000) r(i)", dir, "old.parquet"))
	write(t, e, "SELECT 1 AS id, 'x' AS text", dir, "new.parquet")
	old, fresh := globSource(t, e, dir+"/old.parquet"), globSource(t, e, dir+"/new.parquet")
	id := col(tableSpec(t, old), "id")
	for name, c := range map[string]struct {
		source *Source
		change func(*pushdown.Spec)
	}{
		"too many rows": {old, func(s *pushdown.Spec) { s.Limit = previewRows + 1; s.Columns = s.Columns[:1] }},
		"too large":     {old, func(s *pushdown.Spec) { s.Limit = previewRows }},
		"filter": {old, func(s *pushdown.Spec) {
			s.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Left: id, Right: i64(50)}}
		}},
		"order":          {old, func(s *pushdown.Spec) { s.OrderBy = []pushdown.SortKey{{Column: id}} }},
		"no limit":       {old, func(s *pushdown.Spec) { s.Limit = pushdown.NoLimit }},
		"file just made": {fresh, func(*pushdown.Spec) {}},
	} {
		spec := tableSpec(t, c.source)
		spec.Limit = 10
		c.change(&spec)
		require.NotEmpty(t, rows(t, c.source, spec), name)
		require.Zero(t, kept(t, c.source), name)
	}
}

// TestPreviewCutShort: rows that were not all read are not kept.
func TestPreviewCutShort(t *testing.T) {
	t.Parallel()
	s, _ := keeping(t, 0, "SELECT i AS id FROM range(5000) r(i)")
	spec := tableSpec(t, s)
	spec.Limit = previewRows
	r, err := s.Scan(t.Context(), spec)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Zero(t, kept(t, s))
}
