package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// shrinkTime bounds what making one failure smaller may take.
const shrinkTime = 90 * time.Second

// report makes a failure smaller, first the statement, then the world, then the
// statement again, and prints what is left.
func (w *randomWorld) report(t *testing.T, v way, sql string, ordered bool, f wrong) {
	until := time.Now().Add(shrinkTime)
	same := func(w *randomWorld, sql string) bool {
		return time.Now().Before(until) && w.try(t, v, sql, ordered).kind == f.kind && w.determined(t, sql, ordered)
	}
	if !same(w, sql) {
		t.Log("it does not fail again, or its answer depends on the order of the rows")
		return
	}
	sql = shrinkSQL(sql, func(sql string) bool { return same(w, sql) })
	tries := 0
	small := w.recipe.shrink(sql, func(rec recipe) (failed bool) {
		tries++
		t.Run(fmt.Sprintf("smaller=%d", tries), func(t *testing.T) {
			failed = same(newWorld(t, w.duck, memory.DefaultAllocator, rec), sql)
		})
		return failed
	})
	t.Run("smallest", func(t *testing.T) {
		w := newWorld(t, w.duck, memory.DefaultAllocator, small)
		sql = shrinkSQL(sql, func(sql string) bool { return same(w, sql) })
		t.Logf("smallest: %+v\n%s\n%s\n%s", v, sql, small, w.try(t, v, sql, ordered).text)
	})
}

// minimize leaves out runs of items, long ones first, while what remains fails.
func minimize[T any](items []T, fails func([]T) bool) []T {
	for n := (len(items) + 1) / 2; n > 0; {
		smaller := false
		for at := 0; at < len(items); {
			rest := slices.Concat(items[:at], items[min(at+n, len(items)):])
			if fails(rest) {
				items, smaller = rest, true
			} else {
				at += n
			}
		}
		if !smaller {
			n /= 2
		}
		n = min(n, (len(items)+1)/2)
	}
	return items
}

var sqlToken = regexp.MustCompile(`'(?:[^']|'')*'|(?:\w+\.)?"(?:[^"]|"")*"|[\w.]+|::|<=|>=|<>|\|\||\S`)

// shrinkSQL leaves out tokens, and puts constants or inner queries in the place
// of brackets, while the statement fails.
func shrinkSQL(sql string, fails func(string) bool) string {
	join := func(tokens []string) string { return strings.Join(tokens, " ") }
	tokens := sqlToken.FindAllString(sql, -1)
	if !fails(join(tokens)) {
		return sql
	}
	for before := len(tokens) + 1; len(tokens) < before; {
		before = len(tokens)
		tokens = minimize(tokens, func(rest []string) bool { return fails(join(rest)) })
		tokens = simplifyBrackets(tokens, func(rest []string) bool { return fails(join(rest)) })
	}
	return join(tokens)
}

// simplifyBrackets tries, for each pair of brackets, the statement that is its
// content, the content alone, nothing, NULL and 1 in its place.
func simplifyBrackets(tokens []string, fails func([]string) bool) []string {
	for at := 0; at < len(tokens); at++ {
		end := closing(tokens, at)
		if end < 0 {
			continue
		}
		inner := tokens[at+1 : end]
		for _, rest := range [][]string{
			inner,
			slices.Concat(tokens[:at], inner, tokens[end+1:]),
			slices.Concat(tokens[:at], tokens[end+1:]),
			slices.Concat(tokens[:max(at-1, 0)], tokens[end+1:]),
			slices.Concat(tokens[:at], []string{"NULL"}, tokens[end+1:]),
			slices.Concat(tokens[:at], []string{"1"}, tokens[end+1:]),
			slices.Concat(tokens[:max(at-1, 0)], []string{"1"}, tokens[end+1:]), // a call
		} {
			if len(rest) < len(tokens) && fails(rest) {
				return simplifyBrackets(rest, fails)
			}
		}
	}
	return tokens
}

// closing is the place of the bracket that closes the one at a place, or -1.
func closing(tokens []string, at int) int {
	depth := 0
	for i := at; i < len(tokens) && tokens[at] == "("; i++ {
		switch tokens[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// shrink makes the cluster plain and leaves out columns and rows while the
// statement fails.
func (rec recipe) shrink(sql string, fails func(recipe) bool) recipe {
	try := func(smaller recipe) {
		if fails(smaller) {
			rec = smaller
		}
	}
	plain := rec
	plain.disabled, plain.inFiles = [][]string{nil}, false
	try(plain)
	for i := range rec.disabled {
		one := rec
		one.disabled = slices.Clone(rec.disabled)
		one.disabled[i] = nil
		try(one)
	}
	memory := rec
	memory.inFiles = false
	try(memory)
	for i := range rec.tables {
		narrow := rec
		narrow.tables = slices.Clone(rec.tables)
		narrow.tables[i] = rec.tables[i].narrow(sql)
		try(narrow)
	}
	rows := minimize(rec.rows(), func(rows []rowAt) bool { return fails(rec.only(rows)) })
	return rec.only(rows)
}

// narrow leaves out the columns that the statement does not name.
func (t *randomTable) narrow(sql string) *randomTable {
	out := &randomTable{name: t.name, drift: t.drift, partitions: make([][][]any, len(t.partitions))}
	for i, c := range t.columns {
		if i > 0 && !strings.Contains(sql, strings.ReplaceAll(c.name, `"`, `""`)) {
			continue
		}
		out.columns = append(out.columns, c)
		for p, rows := range t.partitions {
			for r, row := range rows {
				if i == 0 {
					out.partitions[p] = append(out.partitions[p], nil)
				}
				out.partitions[p][r] = append(out.partitions[p][r], row[i])
			}
		}
	}
	return out
}

// rowAt is a row and its place.
type rowAt struct {
	table, partition int
	row              []any
}

func (rec recipe) rows() (out []rowAt) {
	for i, t := range rec.tables {
		for p, rows := range t.partitions {
			for _, row := range rows {
				out = append(out, rowAt{i, p, row})
			}
		}
	}
	return out
}

// only keeps some rows where they are.
func (rec recipe) only(rows []rowAt) recipe {
	tables := make([]*randomTable, len(rec.tables))
	for i, t := range rec.tables {
		tables[i] = &randomTable{name: t.name, columns: t.columns, drift: t.drift, partitions: make([][][]any, len(t.partitions))}
	}
	for _, r := range rows {
		tables[r.table].partitions[r.partition] = append(tables[r.table].partitions[r.partition], r.row)
	}
	rec.tables = tables
	return rec
}

// String prints the world so that it can be made again.
func (rec recipe) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, scanners without %q, in files %t, chaos %t\n", rec.seed, rec.disabled, rec.inFiles, rec.chaos != nil)
	for _, t := range rec.tables {
		var columns []string
		for _, c := range t.columns {
			columns = append(columns, quoted(c.name)+" "+c.typ)
		}
		fmt.Fprintf(&b, "%s(%s)\n", t.name, strings.Join(columns, ", "))
		for p, rows := range t.partitions {
			if len(rows) > 0 {
				fmt.Fprintf(&b, "  partition %d: %v %v\n", p, t.drifting(p), rows)
			}
		}
	}
	return b.String()
}

func TestMinimize(t *testing.T) {
	t.Parallel()
	items := make([]int, 1000)
	for i := range items {
		items[i] = i
	}
	tries := 0
	got := minimize(items, func(rest []int) bool {
		tries++
		return slices.Contains(rest, 3) && slices.Contains(rest, 700)
	})
	require.Equal(t, []int{3, 700}, got)
	require.Less(t, tries, 200)
	require.Empty(t, minimize(items, func([]int) bool { return true }))
	require.Equal(t, items, minimize(items, func(rest []int) bool { return len(rest) == len(items) }))
}

// A statement shrinks to what fails; the rest stays SQL that the engine takes.
func TestShrinkSQL(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	fails := func(sql string) bool {
		r, err := d.query(sql, nil)
		if err != nil {
			return false
		}
		r.release()
		return strings.Contains(sql, "median")
	}
	sql := `SELECT a."odd "" name" AS x, lower(a.t) AS y, median((a.i + 1) * 2) FILTER (WHERE a.t LIKE 'it''s%' AND a.i IN (1, 2, 3)) AS m
		FROM (SELECT 1 AS i, 'it''s' AS t, 2 AS "odd "" name") a WHERE (a.i <= 3 OR NOT a.t || 'b' <> 'c') GROUP BY 1, 2 ORDER BY 1 DESC LIMIT 3`
	small := shrinkSQL(sql, fails)
	require.True(t, fails(small), small)
	require.Less(t, len(small), len(sql)/2, small)
	for _, gone := range []string{"WHERE", "FILTER", "LIMIT", "lower", "* 2"} {
		require.NotContains(t, small, gone)
	}
	require.Equal(t, "SELECT median ( 1 )", shrinkSQL("SELECT median((a.i + 1) * 2) AS m FROM (SELECT 1 AS i) a WHERE i > 0", fails))
}

func TestShrinkRecipe(t *testing.T) {
	t.Parallel()
	rec := randomRecipe(7)
	rec.disabled = [][]string{{"agg"}, {"filter"}}
	rows := rec.rows()
	first, last := rows[0].row[0], rows[len(rows)-1].row[0]
	small := rec.shrink("SELECT 1", func(rec recipe) bool {
		var ids []any
		for _, r := range rec.rows() {
			ids = append(ids, r.row[0])
		}
		return len(rec.disabled) == 2 && slices.Contains(rec.disabled[1], "filter") && slices.Contains(ids, first) && slices.Contains(ids, last)
	})
	require.LessOrEqual(t, len(small.rows()), 2)
	require.Equal(t, [][]string{nil, {"filter"}}, small.disabled)
	require.False(t, small.inFiles)
	for _, tab := range small.tables {
		require.Len(t, tab.columns, 1, small)
	}
}
