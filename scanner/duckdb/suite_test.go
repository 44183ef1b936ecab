package duckdb

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/scanner/sourcetest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.warm = 1 // USE belongs to a connection
	dir := t.TempDir()
	n := 0
	sourcetest.Run(t, sourcetest.Harness{
		Type:  carried,
		Holds: holds,
		Make: func(t *rapid.T, schema *arrow.Schema, partitions [][]arrow.RecordBatch) (scanner.Source, func()) {
			n++
			path := filepath.Join(dir, fmt.Sprintf("%d.duckdb", n))
			s, err := database(e, path, schema, partitions)
			require.NoError(t, err)
			return s, func() {
				_ = e.exec(context.Background(), "DETACH "+quoteIdent(e.attached[path].alias))
				delete(e.attached, path)
				_ = os.Remove(path)
			}
		},
	})
}

// carried are the types that DuckDB has.
func carried(dt arrow.DataType) bool {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return dt.IndexType.ID() == arrow.UINT8 && dt.ValueType.ID() == arrow.STRING
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return false
	default:
		return true
	}
}

// holds: the least dates and timestamps are outside DuckDB's range, the
// greatest are its infinity.
func holds(dt arrow.DataType, v any) bool {
	n, ok := v.(*big.Int)
	switch dt.ID() {
	case arrow.DATE32:
		return !ok || n.Int64() != math.MinInt32
	case arrow.TIMESTAMP:
		return !ok || n.Int64() != math.MinInt64
	default:
		return true
	}
}

// database writes the partitions as tables of a database file.
func database(e *Engine, path string, schema *arrow.Schema, partitions [][]arrow.RecordBatch) (*Source, error) {
	statements := []string{"ATTACH " + quoteText(path) + " AS w", "USE w"}
	columns := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		typ, err := sqlType(f.Type)
		if err != nil {
			return nil, err
		}
		if f.Type.ID() == arrow.DICTIONARY {
			typ = fmt.Sprintf("e%d", i)
			members, err := enumMembers(partitions, i)
			if err != nil {
				return nil, err
			}
			statements = append(statements, "CREATE TYPE "+typ+" AS ENUM (SELECT DISTINCT unnest(["+members+"]))")
		}
		columns[i] = f.Name + " " + typ
	}
	cfg := Config{Engine: e}
	for p, batches := range partitions {
		table := fmt.Sprintf("p%d", p)
		statements = append(statements, "CREATE TABLE "+table+" ("+strings.Join(columns, ", ")+")")
		insert, err := tuples(schema, batches)
		if err != nil {
			return nil, err
		}
		if insert != "" {
			statements = append(statements, "INSERT INTO "+table+" VALUES "+insert)
		}
		cfg.Partitions = append(cfg.Partitions, PartitionConfig{ID: fmt.Sprint(p), Database: path, Table: table})
	}
	for _, sql := range append(statements, "USE memory", "DETACH w") {
		if err := e.exec(context.Background(), sql); err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
	}
	return New(cfg)
}

// enumMembers lists the values of a text column, at least one.
func enumMembers(partitions [][]arrow.RecordBatch, at int) (string, error) {
	out := []string{"'none'"}
	for _, batches := range partitions {
		for _, row := range pushdowntest.Rows(batches...) {
			if row[at] == nil {
				continue
			}
			text, err := textLiteral(row[at].(string))
			if err != nil {
				return "", err
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, ", "), nil
}

func tuples(schema *arrow.Schema, batches []arrow.RecordBatch) (string, error) {
	var out []string
	for _, row := range pushdowntest.Rows(batches...) {
		items := make([]string, len(row))
		for i, v := range row {
			text := "NULL"
			if v != nil {
				var err error
				text, err = literal(pushdowntest.Scalar(pushdown.ValueType(schema.Field(i).Type), v))
				if err != nil {
					return "", err
				}
			}
			items[i] = text
		}
		out = append(out, "("+strings.Join(items, ", ")+")")
	}
	return strings.Join(out, ", "), nil
}
