package pushdowntest

import (
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

// TB is what the helpers need of a test; *testing.T and *rapid.T have it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// RequireResult fails unless got is a right answer to spec, want being its
// [Reference] over the same rows. Partial rows are merged first. Doubles may
// differ by 1e-12 relative.
func RequireResult(t TB, spec pushdown.Spec, want [][]any, got ...arrow.RecordBatch) {
	t.Helper()
	for _, b := range got {
		requireSchema(t, spec.OutputSchema(), b.Schema())
	}
	rows := Rows(got...)
	if spec.Grouped() {
		merged, err := MergePartial(spec, rows)
		if err != nil {
			t.Fatalf("merging partial rows: %v", err)
		}
		RequireSameRows(t, want, merged)
		return
	}
	requireScan(t, spec, want, rows)
}

func requireSchema(t TB, want, got *arrow.Schema) {
	t.Helper()
	if !want.Equal(got) {
		t.Fatalf("schema is\n%s\nwanted\n%s", got, want)
	}
}

// requireScan checks a row scan; want holds all matching rows in order.
func requireScan(t TB, spec pushdown.Spec, want, got [][]any) {
	t.Helper()
	n := len(want)
	if spec.Limit != pushdown.NoLimit {
		n = int(min(int64(n), spec.Limit))
	}
	if len(got) != n {
		t.Fatalf("%d rows, wanted %d", len(got), n)
	}
	keys := outputKeys(spec)
	if len(spec.OrderBy) == 0 || keys == nil {
		requireSubset(t, want, got)
		return
	}
	requireSorted(t, keys, spec.OrderBy, want[:n], got)
	requireSubset(t, want, got)
}

// outputKeys is the place of each sort key in the output, nil when one is not
// there.
func outputKeys(spec pushdown.Spec) []int {
	var out []int
	for _, k := range spec.OrderBy {
		i := slices.IndexFunc(spec.Columns, func(c pushdown.Column) bool { return c.Name == k.Column.Name })
		if i < 0 {
			return nil
		}
		out = append(out, i)
	}
	return out
}

// requireSorted checks that got has the sort keys of want, row by row.
func requireSorted(t TB, at []int, keys []pushdown.SortKey, want, got [][]any) {
	t.Helper()
	for i := range want {
		for k, c := range at {
			if compareKey(keys[k], want[i][c], got[i][c]) != 0 {
				t.Fatalf("row %d has sort key %s, wanted %s", i, Text(got[i][c]), Text(want[i][c]))
			}
		}
	}
}

func requireSubset(t TB, all, some [][]any) {
	t.Helper()
	count := map[string]int{}
	for _, row := range all {
		count[RowText(row)]++
	}
	for _, row := range some {
		text := RowText(row)
		if count[text]--; count[text] < 0 {
			t.Fatalf("row %s is not in the expected rows (or too often)", text)
		}
	}
}

// RequireSameRows fails unless want and got are the same multiset of rows.
func RequireSameRows(t TB, want, got [][]any) {
	t.Helper()
	want, got = sortedRows(want), sortedRows(got)
	if len(want) != len(got) {
		t.Fatalf("%d rows, wanted %d\ngot:\n%s\nwanted:\n%s", len(got), len(want), table(got), table(want))
	}
	for i := range want {
		if !closeRows(want[i], got[i]) {
			t.Fatalf("row differs\ngot:    %s\nwanted: %s", RowText(got[i]), RowText(want[i]))
		}
	}
}

func sortedRows(rows [][]any) [][]any {
	texts := make(map[*any]string, len(rows))
	for _, row := range rows {
		if len(row) > 0 {
			texts[&row[0]] = RowText(row)
		}
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row []any) bool { return len(row) == 0 })
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(texts[&a[0]], texts[&b[0]]) })
	return rows
}

func table(rows [][]any) string {
	var b strings.Builder
	for _, r := range rows[:min(len(rows), 50)] {
		b.WriteString(RowText(r) + "\n")
	}
	return b.String()
}

func closeRows(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool {
		f, okX := x.(float64)
		g, okY := y.(float64)
		if okX && okY && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return math.Abs(f-g) <= 1e-12*max(math.Abs(f), math.Abs(g))
		}
		return Text(x) == Text(y)
	})
}
