package e2e

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// starTables are a fact table and two that it refers to: with duplicates, NULLs and keys
// that the other side lacks.
func starTables() []*randomTable {
	fact := &randomTable{name: "fact", columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "shop", typ: "INTEGER"}, {name: "day", typ: "DATE"}, {name: "txt", typ: "VARCHAR"}, {name: "paid", typ: "DECIMAL(9,2)"}}, partitions: make([][][]any, 4)}
	for i := range 2000 {
		row := []any{strconv.Itoa(i), strconv.Itoa(i % 9), fmt.Sprintf("2024-01-%02d", 1+i%28), strconv.Itoa(i % 50), fmt.Sprintf("%d.25", i)}
		if i%7 == 0 {
			row[3] = "no number"
		}
		if i%11 == 0 {
			row[1] = nil
		}
		fact.partitions[i%3] = append(fact.partitions[i%3], row)
	}
	shop := &randomTable{name: "shop", columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "shop", typ: "INTEGER"}, {name: "town", typ: "VARCHAR"}}, partitions: make([][][]any, 2)}
	for i := range 8 {
		town := any("town " + strconv.Itoa(i%3))
		if i == 5 {
			town = nil
		}
		shop.partitions[i%2] = append(shop.partitions[i%2], []any{strconv.Itoa(i), strconv.Itoa(i % 7), town})
	}
	day := &randomTable{name: "days", columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "day", typ: "DATE"}, {name: "week", typ: "BIGINT"}}, partitions: make([][][]any, 1)}
	for i := range 20 {
		day.partitions[0] = append(day.partitions[0], []any{strconv.Itoa(i), fmt.Sprintf("2024-01-%02d", 1+i), strconv.Itoa(i / 7)})
	}
	return []*randomTable{fact, shop, day}
}

// TestBroadcastJoins: the rows of small tables travel, with scanners that look up
// rows, that cannot, and both.
func TestBroadcastJoins(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, disabled := range map[string][][]string{"all": {nil, nil}, "mixed": {nil, {"lookup"}}, "none": {{"lookup"}, {"all"}}} {
		t.Run(name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			w := newWorld(t, d, mem, recipe{seed: 5, tables: starTables(), disabled: disabled})
			for _, sql := range []string{
				"SELECT s.town, count(*), sum(f.paid), avg(f.paid), min(f.txt) FROM fact f JOIN shop s ON f.shop = s.shop GROUP BY s.town",
				"SELECT s.town, y.week, count(*), max(s.id) FROM fact f JOIN shop s ON f.shop = s.shop JOIN days y ON f.day = y.day GROUP BY ALL HAVING count(*) > 5",
				"SELECT count(*), sum(f.paid), count(s.town) FROM fact f JOIN shop s ON f.shop = s.shop AND f.id > s.id JOIN days y ON f.day = y.day WHERE y.week = 1",
				"SELECT count(*), sum(f.paid) FROM fact f JOIN shop s ON f.shop = s.shop WHERE s.id > 100",
				"SELECT y.week, count(DISTINCT s.town), sum(f.paid) FILTER (WHERE s.town IS NULL) FROM fact f, shop s, days y WHERE f.shop = s.shop AND f.day = y.day GROUP BY ROLLUP (y.week)",
				"SELECT s.town, sum(CAST(f.txt AS INTEGER)) FROM fact f JOIN shop s ON f.shop = s.shop JOIN (SELECT * FROM days WHERE week = 0) y ON f.id % 7 = y.id AND y.id = 1 GROUP BY 1",
				"SELECT s.town, sum(f.paid) AS p FROM fact f JOIN shop s ON f.shop = s.shop GROUP BY 1 ORDER BY p DESC LIMIT 2",
			} {
				for _, batch := range []string{"200", "1048576"} {
					w.askIn(t, []way{{"full", batch, "always", ""}, {"full", batch, "always", "broadcast_join"}, {"full", batch, "off", ""}, {"filter", batch, "always", ""}}, sql, false)
				}
			}
			require.Greater(t, int(counters(t, w.registry, "tributary_coordinator_adaptive_rules_total")["broadcast_join"]), 8)
			const sql = "SELECT s.town, count(*) FROM fact f JOIN shop s ON f.shop = s.shop GROUP BY 1"
			text := answer(t, d, w.coordinator, way{"full", "1048576", "always", ""}.settings(t), "EXPLAIN ANALYZE "+sql)
			require.Contains(t, text, "or in place of scan1, by what scan2 yield: main.fact, partial aggregate")
			require.Contains(t, text, "broadcast=[scan2]")
			if name == "all" {
				m := rowsReceivedTotal.FindStringSubmatch(text)
				require.NotNil(t, m)
				received, err := strconv.Atoi(m[1])
				require.NoError(t, err)
				require.LessOrEqual(t, received, 8+2*4, text) // the small table, and groups of two scanners
			}
		})
	}
}
