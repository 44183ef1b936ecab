package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

var receivedTotal = regexp.MustCompile(`total: \d+ rows scanned, (\d+) rows`)

// TestWholeGroups: HAVING, top-N and DISTINCT with LIMIT run at the scanners
// where groups are whole there; answers are those of the lowest rung, and few
// rows travel.
func TestWholeGroups(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, disabled := range map[string][][]string{
		"all do all": {nil, nil}, "rows only": {{"all"}, nil}, "one cannot": {{"reduce"}, nil}, "no groups": {nil, {"agg"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPruneFiles(t, disabled...)
			off := query.DefaultSettings()
			off.Pushdown = plan.PushdownOff
			for _, c := range []struct {
				sql  string
				rows int // received, at most, when all do all
			}{
				{"SELECT id, count(*), max(name) FROM events GROUP BY id HAVING max(name) > 'name 97' ORDER BY id", 40},
				{"SELECT id, sum(amount) AS s FROM events GROUP BY id ORDER BY s DESC, id LIMIT 5", 10},
				{"SELECT id, sum(amount) AS s FROM events GROUP BY id ORDER BY s DESC, id LIMIT 5 OFFSET 4", 18},
				{"SELECT id % 3, id, count(*) AS n FROM events GROUP BY ALL HAVING count(*) = 1 ORDER BY n, 2 DESC LIMIT 3", 6},
				{"SELECT late, count(*) AS n, min(id) FROM events GROUP BY late ORDER BY n DESC, late LIMIT 2", 6},
				{"SELECT late, amount, count(*) AS n FROM events GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL", 20},
				{"SELECT count(*) FROM (SELECT DISTINCT name FROM events LIMIT 7)", 14},
				{"SELECT DISTINCT amount FROM events ORDER BY amount DESC NULLS LAST LIMIT 3", 6},
				{"SELECT amount, count(*), sum(id) FROM events GROUP BY amount ORDER BY amount LIMIT 2", 4},
				{"SELECT amount, day, count(*) FROM events WHERE id > 150 GROUP BY ALL ORDER BY day, amount DESC LIMIT 4", 8},
				{"SELECT n, count(*) FROM (SELECT day, amount, count(*) AS n FROM events GROUP BY ALL) WHERE n > 14 GROUP BY n ORDER BY n", 40},
				{"SELECT amount, count(*) FROM events GROUP BY amount HAVING count(*) > 1 ORDER BY amount", 14},
				{"SELECT id % 3 AS a, id % 3 AS b, count(DISTINCT id) AS n FROM events GROUP BY a, b HAVING count(*) > 2 ORDER BY a", 1000},
				{"SELECT id, id AS again, count(DISTINCT name) AS n FROM events GROUP BY ALL ORDER BY n DESC, id LIMIT 3", 1000},
			} {
				want := answer(t, d, f.coordinator, off, c.sql)
				require.NotEmpty(t, want)
				require.Equal(t, want, answer(t, d, f.coordinator, query.DefaultSettings(), c.sql), c.sql)
				text := answer(t, d, f.coordinator, query.DefaultSettings(), "EXPLAIN ANALYZE "+c.sql)
				received := receivedTotal.FindStringSubmatch(text)
				require.NotNil(t, received, text)
				rows, err := strconv.Atoi(received[1])
				require.NoError(t, err)
				if name == "all do all" {
					require.LessOrEqual(t, rows, c.rows, text)
				}
			}
		})
	}
}

// TestGroupsThatStopBeingWhole: a file that was replaced has keys of another
// scanner, which statistics had excluded.
func TestGroupsThatStopBeingWhole(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	set := query.DefaultSettings()
	sql := "SELECT id, count(*) AS n FROM events GROUP BY id HAVING count(*) > 1 ORDER BY id"
	require.Empty(t, answer(t, d, f.coordinator, set, sql))
	require.Contains(t, answer(t, d, f.coordinator, set, "EXPLAIN "+sql), "groups are whole: no value of id is on two scanners")
	f.write(t, 3, strings.Replace(eventRows(3), "range(300, 400)", "range(250, 350)", 1))
	var want []string
	for id := 250; id < 300; id++ {
		want = append(want, fmt.Sprintf("%d 2", id))
	}
	require.Equal(t, strings.Join(want, "\n"), answer(t, d, f.coordinator, set, sql))
	require.Contains(t, answer(t, d, f.coordinator, set, "EXPLAIN "+sql), "not pushed: groups are not reduced")
}
