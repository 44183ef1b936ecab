package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

// sqlCase is one line of testdata/cases.jsonl: a query over tables spread over
// partitions, retold from a public bug report, with the right answer.
type sqlCase struct {
	ID     string
	Tables []struct {
		Name          string
		Columns       [][2]string
		Partitions    [][][]any
		PartitionsSQL []string `json:"partitions_sql"`
		// PartitionColumns are what each partition has, where they differ.
		PartitionColumns [][][2]string `json:"partition_columns"`
	}
	SQL         string
	Expect      [][]any
	Ordered     bool
	ExpectTypes []string `json:"expect_types"`
	ExpectError string   `json:"expect_error"`
	Settings    []string
	Params      [][2]any
	FloatTol    float64 `json:"float_tol"`
	Heavy       bool
}

func readCases(t *testing.T) (cases []sqlCase) {
	t.Helper()
	f, err := os.Open("testdata/cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		var c sqlCase
		require.NoError(t, dec.Decode(&c))
		cases = append(cases, c)
	}
	require.NoError(t, lines.Err())
	require.Greater(t, len(cases), 150)
	return cases
}

// refused is the code of the error that a case must give for now, and why; OK
// for a case that must be answered.
func (c *sqlCase) refused() (status.Code, string) {
	switch {
	case len(c.Settings) > 0:
		return status.Unimplemented, "time zones other than UTC"
	case strings.Contains(c.SQL, "::UUID"):
		return status.InvalidArgument, "UUID columns are text"
	}
	return status.OK, ""
}

// settings are those of the case and the rung.
func (c *sqlCase) settings(level string) (query.Settings, error) {
	set := query.DefaultSettings()
	errs := []error{set.Set("pushdown", level)}
	for _, text := range c.Settings {
		cmd, err := query.Classify(text)
		errs = append(errs, err, set.Set(cmd.Name, cmd.Value))
	}
	return set, errors.Join(errs...)
}

// tables spreads the partitions of every table over n scanners.
func (c *sqlCase) tables(t *testing.T, d *duck, n int) [][]scanner.Table {
	t.Helper()
	perNode := make([][]scanner.Table, n)
	for _, tab := range c.Tables {
		var parts []*result
		for p, rows := range tab.Partitions {
			columns := tab.Columns
			if p < len(tab.PartitionColumns) {
				columns = tab.PartitionColumns[p]
			}
			parts = append(parts, d.rows(t, castSQL(columns, rowsSQL(columns, rows))))
		}
		for _, text := range tab.PartitionsSQL {
			parts = append(parts, d.rows(t, castSQL(tab.Columns, text)))
		}
		require.NotEmpty(t, parts)
		schemaName, name, ok := strings.Cut(tab.Name, ".")
		if !ok {
			schemaName, name = "main", tab.Name
		}
		for s := range n {
			schema := d.rows(t, rowsSQL(tab.Columns, nil)).schema
			var own []memsource.Partition
			for p := s; p < len(parts); p += n {
				if p < len(tab.PartitionColumns) {
					schema = unite(t, schema, parts[p].schema, len(own) == 0)
				}
				own = append(own, memsource.Partition{ID: strconv.Itoa(p), Batches: parts[p].batches})
			}
			src, err := memsource.New(schema, own)
			require.NoError(t, err)
			perNode[s] = append(perNode[s], scanner.Table{Schema: schemaName, Name: name, Source: src})
		}
	}
	return perNode
}

// unite is the schema of partitions with other columns; the first one has only
// its own.
func unite(t *testing.T, schema, own *arrow.Schema, first bool) *arrow.Schema {
	t.Helper()
	if first {
		return own
	}
	fields := schema.Fields()
	for _, f := range own.Fields() {
		at := schema.FieldIndices(f.Name)
		if len(at) == 0 {
			fields = append(fields, f)
			continue
		}
		joined, ok := widen.Common(fields[at[0]].Type, f.Type)
		require.True(t, ok, "%s and %s", fields[at[0]], f)
		fields[at[0]].Type = joined
	}
	return arrow.NewSchema(fields, nil)
}

func castSQL(columns [][2]string, from string) string {
	var casts []string
	for i, c := range columns {
		casts = append(casts, fmt.Sprintf("CAST(c%d AS %s) AS %s", i, c[1], quoted(c[0])))
	}
	var names []string
	for i := range columns {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	return fmt.Sprintf("SELECT %s FROM (%s) t(%s)", strings.Join(casts, ", "), from, strings.Join(names, ", "))
}

// rowsSQL writes rows as SQL; no rows keep the types.
func rowsSQL(columns [][2]string, rows [][]any) string {
	if len(rows) == 0 {
		var nulls []string
		for _, c := range columns {
			nulls = append(nulls, fmt.Sprintf("CAST(NULL AS %s) AS %s", c[1], quoted(c[0])))
		}
		return "SELECT " + strings.Join(nulls, ", ") + " WHERE false"
	}
	var lines []string
	for _, row := range rows {
		var cells []string
		for i, v := range row {
			cells = append(cells, fmt.Sprintf("CAST(%s AS %s)", literal(v), columns[i][1]))
		}
		lines = append(lines, "("+strings.Join(cells, ", ")+")")
	}
	return "VALUES " + strings.Join(lines, ", ")
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(v any) string {
	if v == nil {
		return "NULL"
	}
	return "'" + strings.ReplaceAll(fmt.Sprint(v), "'", "''") + "'"
}

// check compares a result with the expectation of the case.
func (c *sqlCase) check(t *testing.T, got [][]*string, how string) {
	t.Helper()
	want := make([][]*string, len(c.Expect))
	for i, row := range c.Expect {
		for _, v := range row {
			if v == nil {
				want[i] = append(want[i], nil)
				continue
			}
			s := fmt.Sprint(v)
			want[i] = append(want[i], &s)
		}
	}
	require.Len(t, got, len(want), "%s: %s\ngot %s\nwant %s", how, c.SQL, show(got), show(want))
	if !c.Ordered {
		sortRows(got)
		sortRows(want)
	}
	for i := range want {
		for j := range want[i] {
			require.True(t, c.same(got[i][j], want[i][j], c.ExpectTypes[j]), "%s: %s\nrow %d column %d\ngot  %s\nwant %s", how, c.SQL, i, j, show(got), show(want))
		}
	}
}

func (c *sqlCase) same(got, want *string, typ string) bool {
	if got == nil || want == nil {
		return got == want
	}
	if typ != "DOUBLE" && typ != "FLOAT" {
		return *got == *want
	}
	number := func(s string) (float64, error) { return strconv.ParseFloat(strings.Replace(s, "-nan", "nan", 1), 64) }
	g, err1 := number(*got)
	w, err2 := number(*want)
	if err1 != nil || err2 != nil {
		return false
	}
	tol := max(c.FloatTol, 1e-12)
	if typ == "FLOAT" {
		tol = max(tol, 1e-6)
	}
	return math.IsNaN(g) && math.IsNaN(w) || g == w || math.Abs(g-w) <= tol*math.Max(math.Abs(g), math.Abs(w))
}

func show(rows [][]*string) string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, v := range row {
			if v == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, *v)
			}
		}
		lines = append(lines, "("+strings.Join(cells, ", ")+")")
	}
	return strings.Join(lines[:min(len(lines), 20)], " ")
}

// sortRows orders rows so that numbers which print differently sort alike.
func sortRows(rows [][]*string) {
	key := func(v *string) string {
		if v == nil {
			return ""
		}
		if f, err := strconv.ParseFloat(*v, 64); err == nil {
			return fmt.Sprintf("=%.8g", f+0)
		}
		return "=" + *v
	}
	slices.SortStableFunc(rows, func(a, b []*string) int {
		return slices.CompareFunc(a, b, func(x, y *string) int { return strings.Compare(key(x), key(y)) })
	})
}

// clusters are how the scanners of a case's runs are set up.
var clusters = []struct {
	name    string
	disable [][]string
}{
	{"one", [][]string{nil}},
	{"three", [][]string{nil, nil, nil}},
	{"mixed", [][]string{nil, {"agg"}, {"all"}}},
	{"filterless", [][]string{{"filter"}, nil}},
}

func TestCases(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for _, c := range readCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			for _, cl := range clusters {
				var nodes []node
				for i, tables := range c.tables(t, d, len(cl.disable)) {
					nodes = append(nodes, node{name: fmt.Sprintf("s%d", i), tables: tables, disable: cl.disable[i]})
				}
				coordinator := startCluster(t, nodes, memory.DefaultAllocator)
				for _, level := range []string{"full", "filter", "off"} {
					c.run(t, d, coordinator, cl.name, level)
				}
			}
		})
	}
}

// run runs the case on one rung and checks the answer.
func (c *sqlCase) run(t *testing.T, d *duck, coordinator *server.Coordinator, cluster, level string) {
	t.Helper()
	how := cluster + " " + level
	set, err := c.settings(level)
	values := c.values(t, d)
	defer values.release()
	var r *result
	if err == nil {
		r, err = runBound(coordinator, set, c.SQL, values.batches)
	}
	if code, why := c.refused(); code != status.OK {
		require.Equal(t, code, status.CodeOf(err), "%s: %v", why, err)
		return
	}
	if c.ExpectError != "" {
		require.Error(t, err, how)
		require.Regexp(t, regexp.MustCompile(c.ExpectError), err.Error())
		return
	}
	require.NoError(t, err, "%s: %s", how, c.SQL)
	got := d.text(t, r)
	r.release()
	c.check(t, got, how)
}

// values are those of the case's parameters, as one row.
func (c *sqlCase) values(t *testing.T, d *duck) *result {
	t.Helper()
	if len(c.Params) == 0 {
		return &result{}
	}
	var casts []string
	for i, p := range c.Params {
		casts = append(casts, fmt.Sprintf("CAST(%s AS %s) AS p%d", literal(p[1]), p[0], i))
	}
	r, err := d.query("SELECT "+strings.Join(casts, ", "), nil)
	require.NoError(t, err)
	return r
}
