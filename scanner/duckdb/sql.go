package duckdb

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// statement writes a spec as one SELECT over the given relation, which holds
// the columns of the table.
func statement(spec *pushdown.Spec, from string) (string, error) {
	if spec.Grouped() {
		return aggregateSQL(spec, from)
	}
	columns := make([]string, len(spec.Columns))
	for i, c := range spec.Columns {
		columns[i] = columnRef(c.Name)
	}
	where, err := whereSQL(spec.Filter)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("SELECT %s FROM %s AS %s%s%s", strings.Join(columns, ", "), from, relation, where, limitSQL(spec)), nil
}

func whereSQL(filter []pushdown.Expr) (string, error) {
	if len(filter) == 0 {
		return "", nil
	}
	text, err := renderFilter(filter)
	return " WHERE " + text, err
}

func limitSQL(spec *pushdown.Spec) string {
	var b strings.Builder
	for i, k := range spec.OrderBy {
		sep, dir, nulls := ", ", " ASC", " NULLS LAST"
		if i == 0 {
			sep = " ORDER BY "
		}
		if k.Descending {
			dir = " DESC"
		}
		if k.NullsFirst {
			nulls = " NULLS FIRST"
		}
		b.WriteString(sep + columnRef(k.Column.Name) + dir + nulls)
	}
	if spec.Limit != pushdown.NoLimit {
		fmt.Fprintf(&b, " LIMIT %d", spec.Limit)
	}
	return b.String()
}

func aggregateSQL(spec *pushdown.Spec, from string) (string, error) {
	var outputs, ordinals []string
	for i, k := range spec.GroupBy {
		text, err := renderTyped(typed{k.Expr}, "%s", k.Expr)
		if err != nil {
			return "", err
		}
		outputs = append(outputs, text)
		ordinals = append(ordinals, fmt.Sprint(i+1))
	}
	for _, a := range spec.Aggregates {
		text, err := renderAggregate(a)
		if err != nil {
			return "", status.Wrap(status.Unimplemented, err, "aggregate %q", a.Name)
		}
		outputs = append(outputs, text)
	}
	where, err := whereSQL(spec.Filter)
	if err != nil {
		return "", err
	}
	group := ""
	if len(ordinals) > 0 {
		group = " GROUP BY " + strings.Join(ordinals, ", ")
	}
	return fmt.Sprintf("SELECT %s FROM %s AS %s%s%s", strings.Join(outputs, ", "), from, relation, where, group), nil
}

// typed is an expression seen at the type of its values.
type typed struct{ pushdown.Expr }

// Type decodes dictionaries.
func (t typed) Type() arrow.DataType { return pushdown.ValueType(t.Expr.Type()) }

func renderAggregate(a pushdown.Aggregate) (string, error) {
	typ, err := sqlType(a.Type())
	if err != nil {
		return "", err
	}
	arg, filter := "*", ""
	if a.Arg != nil {
		if arg, err = render(a.Arg); err != nil {
			return "", err
		}
	}
	if a.Filter != nil {
		if filter, err = render(a.Filter); err != nil {
			return "", err
		}
	}
	if a.Arg != nil && filter != "" && !pushdown.Infallible(a.Arg) {
		// DuckDB computes arguments for all rows, FILTER or not.
		arg, filter = fmt.Sprintf("CASE WHEN %s THEN %s END", filter, arg), ""
	}
	call := map[pushdown.AggFunc]string{
		pushdown.CountStar: "count(%s)", pushdown.Count: "count(%s)", pushdown.Sum: "sum(%s)",
		pushdown.Min: "min(%s)", pushdown.Max: "max(%s)",
	}[a.Func]
	if call == "" {
		return "", status.New(status.Unimplemented, "unknown aggregate function %d", a.Func)
	}
	text := fmt.Sprintf(call, arg)
	if filter != "" {
		text += " FILTER (WHERE " + filter + ")"
	}
	// HUGEINT sums become DECIMAL(38,0); the cast raises what does not fit.
	return cast(text, typ), nil
}

// emptyRelation has the columns and no rows.
func emptyRelation(columns []pushdown.Column) (string, error) {
	text, err := part{}.selectSQL(columns)
	return "(" + text + " WHERE FALSE)", err
}

// union is the relation over several parts, each with its own columns.
func union(parts []part, columns []pushdown.Column) (string, error) {
	if len(parts) == 1 && parts[0].plain(columns) {
		return parts[0].from, nil
	}
	arms := make([]string, len(parts))
	for i, p := range parts {
		var err error
		if arms[i], err = p.selectSQL(columns); err != nil {
			return "", err
		}
	}
	return "(" + strings.Join(arms, " UNION ALL ") + ")", nil
}

// part is a relation of DuckDB that holds rows of the table.
type part struct {
	from    string
	columns map[string]column
	where   string // which of its rows; empty for all
}

// plain reports that the wanted columns can be read as they are.
func (p part) plain(wanted []pushdown.Column) bool {
	if p.where != "" {
		return false
	}
	for _, w := range wanted {
		c, ok := p.columns[w.Name]
		if !ok || c.constant != "" || c.read != c.physical || !arrow.TypeEqual(c.arrow, w.DataType) {
			return false
		}
	}
	return true
}

// selectSQL reads the wanted columns with the wanted types; those that the part
// lacks are NULL.
func (p part) selectSQL(wanted []pushdown.Column) (string, error) {
	items := make([]string, len(wanted))
	for i, w := range wanted {
		text, err := p.column(w)
		if err != nil {
			return "", err
		}
		items[i] = text + " AS " + quoteIdent(w.Name)
	}
	from := ""
	if p.from != "" {
		from = " FROM " + p.from
	}
	if p.where != "" {
		from += " WHERE " + p.where
	}
	return "SELECT " + strings.Join(items, ", ") + from, nil
}

func (p part) column(want pushdown.Column) (string, error) {
	if c, ok := p.columns[want.Name]; ok {
		return c.as(want.DataType)
	}
	typ, err := readType(want.DataType)
	return cast("NULL", typ), err
}
