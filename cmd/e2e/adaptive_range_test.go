package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// TestScalarSubqueriesNarrowByRange: their values bound other scans, whatever the
// comparison, and what those then yield narrows further ones.
func TestScalarSubqueriesNarrowByRange(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	off, always := adaptiveSettings(t)
	for _, c := range []struct {
		sql, path string
		scanned   int // at most
	}{
		{"SELECT count(*), sum(amount) FROM events WHERE id BETWEEN (SELECT DISTINCT id + 1 FROM events WHERE name = 'name 215') AND " +
			"(SELECT DISTINCT id + 3 FROM events WHERE name = 'name 215')", "id >= 1 value of scan2.c0", 1700},
		{"SELECT count(*), sum(amount) FROM events WHERE id > (SELECT id FROM events WHERE name = 'name 795')", "id > 1 value of scan2.c0", 900},
		{"SELECT count(*), sum(amount) FROM events WHERE id < (SELECT min(id) FROM events WHERE name >= 'name 5')", "id < 2 values of scan2.c0", 1400},
		{"SELECT count(*), sum(amount) FROM events WHERE id = (SELECT max(id) FROM events WHERE name >= 'name 5')", "runtime=id in ", 1000},
		{"SELECT count(*), sum(b.amount) FROM events a JOIN events b ON a.id = b.id WHERE a.id <= (SELECT id FROM events WHERE name = 'name 5')",
			"id <= 1 value of scan3.c0", 1000},
		{"SELECT count(*), sum(a.amount), count(b.id) FROM events a LEFT JOIN events b ON a.id = b.id WHERE a.id <= (SELECT id FROM events WHERE name = 'name 5')",
			"id <= 1 value of scan3.c0", 1000},
		{"SELECT count(*), sum(amount) FROM events WHERE name > (SELECT name FROM events WHERE id = 798)", "name > 1 value of scan2.c0", 1600},
		{"SELECT count(*), sum(amount) FROM events WHERE late <= (SELECT id FROM events WHERE name = 'name 701')", "late <= 1 value of scan2.c0", 900},
		{"SELECT a.id, count(b.id) FROM events a LEFT JOIN events b ON b.id < a.id WHERE a.id IN (2, 4) GROUP BY a.id ORDER BY a.id", "id < 2 values of scan1.c0", 200},
		// NULL, and no row at all, compare with nothing.
		{"SELECT count(*) FROM events WHERE id >= (SELECT id FROM events WHERE name = 'nobody')", "removed: ", 800},
		{"SELECT count(*) FROM events WHERE late >= (SELECT late FROM events WHERE id = 5)", "removed: ", 800},
		{"SELECT count(*) FROM events WHERE id >= (SELECT max(late) FROM events WHERE id < 700)", "removed: ", 800},
	} {
		require.Equal(t, answer(t, d, f.coordinator, off, c.sql), answer(t, d, f.coordinator, always, c.sql), c.sql)
		_, text := rowsScanned(t, d, f.coordinator, off, c.sql)
		require.NotContains(t, text, "round 1")
		scanned, text := rowsScanned(t, d, f.coordinator, always, c.sql)
		require.Contains(t, text, c.path)
		require.LessOrEqual(t, scanned, c.scanned, text)
	}
}

// TestSeveralRowsOfAScalarSubqueryAreAnError: also where no row is left that would
// be compared with them.
func TestSeveralRowsOfAScalarSubqueryAreAnError(t *testing.T) {
	t.Parallel()
	f := newPruneFiles(t, nil, nil)
	off, always := adaptiveSettings(t)
	for _, sql := range []string{
		"SELECT count(*) FROM events WHERE late > (SELECT id + 1000 FROM events WHERE id IN (5, 6))",
		"SELECT count(*) FROM events WHERE late > (SELECT DISTINCT id + 1000 FROM events WHERE id IN (5, 6))",
		"SELECT count(*) FROM events WHERE late < (SELECT id FROM events WHERE id IN (5, 6))",
		"SELECT count(*) FROM events WHERE late = (SELECT id FROM events WHERE id IN (5, 6))",
		"SELECT count(*) FROM events WHERE late = (SELECT DISTINCT id FROM events WHERE id IN (5, 6))",
		"SELECT count(*) FROM events WHERE late = (SELECT DISTINCT late FROM events WHERE id IN (5, 701))", // NULL is one
		"SELECT count(*) FROM events WHERE name = (SELECT name || 'x' FROM events WHERE id = 5 UNION ALL SELECT 'y')",
		"SELECT count(*) FROM events WHERE late = (SELECT a.id FROM events a JOIN events b ON a.id < b.id WHERE a.id = 5 AND b.id < 9)",
	} {
		for _, set := range []query.Settings{off, always} {
			r, err := run(f.coordinator, set, sql)
			if err == nil {
				r.release()
			}
			require.ErrorContains(t, err, "More than one row returned by a subquery", sql)
			require.Equal(t, status.InvalidArgument, status.CodeOf(err), sql)
		}
	}
}

func adaptiveSettings(t *testing.T) (off, always query.Settings) {
	off, always = query.DefaultSettings(), query.DefaultSettings()
	require.NoError(t, off.Set("adaptive", "off"))
	require.NoError(t, always.Set("adaptive", "always"))
	return off, always
}
