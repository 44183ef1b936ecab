package duckdb

import (
	"fmt"
	"math/big"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// hiveNull is the directory of rows in which the key is NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// hiveKey is a directory "name=text".
type hiveKey struct {
	name, text string
	null       bool
}

// hiveKeys are those of the directories right above a file, from the outermost
// on: "year=2024/month=5/rows.parquet" has two. Directories further up, beyond
// one of another form, may have an equals sign for any reason.
func hiveKeys(path string) []hiveKey {
	var out []hiveKey
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	for i := len(dirs) - 1; i >= 0; i-- {
		k, ok := parseHiveKey(dirs[i])
		if !ok {
			break
		}
		if slices.ContainsFunc(out, func(o hiveKey) bool { return strings.EqualFold(o.name, k.name) }) {
			return nil
		}
		out = append(out, k)
	}
	slices.Reverse(out)
	return out
}

func parseHiveKey(dir string) (hiveKey, bool) {
	name, text, ok := strings.Cut(dir, "=")
	k := hiveKey{name: unescape(name), text: unescape(text), null: text == hiveNull}
	whole := k.name + k.text
	return k, ok && k.name != "" && utf8.ValidString(whole) && !strings.Contains(whole, "\x00")
}

// unescape decodes %XX; what is not such a code stays as it is written.
func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// hiveType is the type of a key: BIGINT or DATE if all its values are.
type hiveType struct {
	sql   string
	arrow arrow.DataType
	// number is the value inside, not ok for other text; nil for VARCHAR.
	number func(text string) (int64, bool)
}

var hiveTypes = []hiveType{
	{"BIGINT", arrow.PrimitiveTypes.Int64, wholeNumber},
	{"DATE", arrow.FixedWidthTypes.Date32, dayNumber},
	{"VARCHAR", arrow.BinaryTypes.String, nil},
}

func wholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && !strings.HasPrefix(text, "+")
}

func dayNumber(text string) (int64, bool) {
	day, err := time.Parse("2006-01-02", text)
	return day.Unix() / secondsPerDay, err == nil && day.Year() > 0
}

func (t hiveType) holds(k hiveKey) bool {
	if k.null || t.number == nil {
		return true
	}
	_, ok := t.number(k.text)
	return ok
}

// literal is a value in SQL, to be cast to the type.
func (t hiveType) literal(k hiveKey) string {
	if k.null {
		return "NULL"
	}
	return quoteText(k.text)
}

// hiveColumn is a key as a column of a file that has no such column of its own.
type hiveColumn struct {
	hiveKey
	typ hiveType
}

// column is the key as a constant.
func (h hiveColumn) column() column {
	return h.over(fmt.Sprintf("CAST(%s AS %s)", h.typ.literal(h.hiveKey), h.typ.sql))
}

func (h hiveColumn) over(expr string) column {
	return column{name: h.name, arrow: h.typ.arrow, physical: h.typ.sql, read: h.typ.sql, constant: expr}
}

// extent is that of the rows of a file, -1 for an unknown number.
func (h hiveColumn) extent(rows int64) extent {
	switch {
	case h.null:
		return extent{nulls: rows, bounded: true, exact: true}
	case h.typ.number == nil:
		return extent{distinct: 1}
	case rows == 0:
		return extent{bounded: true, exact: true}
	}
	n, _ := h.typ.number(h.text)
	return extent{lo: big.NewInt(n), hi: big.NewInt(n), bounded: true, exact: rows > 0, distinct: 1}
}

// mergedHive are the keys of several Parquet files that are read in one call, in
// this order.
func mergedHive(files []*described) []column {
	var out []column
	for i, h := range files[0].hive {
		same := true
		items := make([]string, len(files))
		for j, d := range files {
			items[j] = d.hive[i].typ.literal(d.hive[i].hiveKey)
			same = same && items[j] == items[0]
		}
		if same {
			out = append(out, h.column())
			continue
		}
		out = append(out, h.over(fmt.Sprintf("(CAST([%s] AS %s[]))[CAST(%s AS BIGINT) + 1]", strings.Join(items, ", "), h.typ.sql, fileIndex)))
	}
	return out
}

// fileIndex is DuckDB's virtual column with the position of a row's file.
const fileIndex = "file_index"

// all are the columns of the file and those of its directories.
func (d *described) all() []column {
	out := slices.Clip(d.columns)
	for _, h := range d.hive {
		out = append(out, h.column())
	}
	return out
}

// addHive gives the files of a table the keys of their directories as columns.
// A file that has such a column itself keeps it: its rows know better.
func (snap *snapshot) addHive() {
	keys := map[string][]hiveKey{}
	snap.eachHive(func(_ *described, k hiveKey) {
		keys[strings.ToLower(k.name)] = append(keys[strings.ToLower(k.name)], k)
	})
	types := map[string]hiveType{}
	for name, all := range keys {
		for i := len(hiveTypes) - 1; i >= 0; i-- {
			if t := hiveTypes[i]; !slices.ContainsFunc(all, func(k hiveKey) bool { return !t.holds(k) }) && !onlyNull(all, t) {
				types[name] = t
			}
		}
	}
	for _, p := range snap.partitions {
		for i, d := range p.origins {
			c := *d // others may read the old one
			c.hive, p.origins[i] = nil, &c
		}
	}
	snap.eachHive(func(d *described, k hiveKey) {
		d.hive = append(d.hive, hiveColumn{k, types[strings.ToLower(k.name)]})
	})
}

// onlyNull: nothing speaks for a type but VARCHAR.
func onlyNull(keys []hiveKey, t hiveType) bool {
	return t.number != nil && !slices.ContainsFunc(keys, func(k hiveKey) bool { return !k.null })
}

func (snap *snapshot) eachHive(do func(d *described, k hiveKey)) {
	for _, p := range snap.partitions {
		for _, d := range p.origins {
			if d.format == formatTable || d.err != nil {
				continue
			}
			for _, k := range hiveKeys(d.origin.path) {
				if !d.has(k.name) {
					do(d, k)
				}
			}
		}
	}
}
