package params

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Param is one parameter of a statement.
type Param struct {
	// Name is the engine's: a number for ? and $1, else the name.
	Name string
	// Type and SQL are the type that the engine infers, in Arrow and in SQL;
	// nil and "" when it infers none.
	Type arrow.DataType
	SQL  string
}

// Sort puts parameters into the order in which values are bound: numbered ones
// by number, with a parameter of no type for each number left out; named ones
// by their first place in the statement.
func Sort(sql string, ps []Param) ([]Param, error) {
	byName := map[string]Param{}
	for _, p := range ps {
		byName[strings.ToLower(p.Name)] = p
	}
	var names []string
	highest := 0
	for _, t := range Tokens(sql) {
		if _, ok := byName[t.Name]; !ok {
			return nil, disagree()
		}
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
		if n, err := strconv.Atoi(t.Name); err == nil {
			highest = max(highest, n)
		}
	}
	if len(names) != len(byName) {
		return nil, disagree()
	}
	if highest > maxParams {
		return nil, status.New(status.InvalidArgument, "parameter %d is too many: a statement takes up to %d", highest, maxParams)
	}
	if highest > 0 {
		names = names[:0]
		for n := range highest {
			names = append(names, strconv.Itoa(n+1))
		}
	}
	out := make([]Param, len(names))
	for i, name := range names {
		out[i] = byName[name]
		out[i].Name = name
	}
	return out, nil
}

// maxParams is how many parameters a statement may have.
const maxParams = 4096

func disagree() error {
	return status.New(status.Unimplemented, "the parameters of this statement cannot be told apart: write them as ?, $1 or $name")
}

// Schema is the schema of the values to bind: utf8 where no type is inferred.
func Schema(ps []Param) *arrow.Schema {
	fields := make([]arrow.Field, len(ps))
	for i, p := range ps {
		fields[i] = arrow.Field{Name: p.Name, Type: p.Type, Nullable: true}
		if p.Type == nil {
			fields[i].Type = arrow.BinaryTypes.String
		}
	}
	return arrow.NewSchema(fields, nil)
}

// Nulls are literals that stand for values of which only the types are known.
func Nulls(ps []Param) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = cast("NULL", "VARCHAR")
		if p.SQL != "" {
			out[i] = cast("NULL", p.SQL)
		}
	}
	return out
}

// Substitute writes the literals, which are in the order of Sort, in place of
// the parameters.
func Substitute(sql string, literals []string) (string, error) {
	tokens := Tokens(sql)
	order := placing(tokens)
	var b strings.Builder
	end := 0
	for _, t := range tokens {
		at, ok := order[t.Name]
		if !ok || at >= len(literals) {
			return "", status.New(status.InvalidArgument, "no value is bound to parameter %s", t.Name)
		}
		b.WriteString(sql[end:t.Start] + " " + literals[at] + " ")
		end = t.End
	}
	b.WriteString(sql[end:])
	return b.String(), nil
}

// placing gives the place of each parameter in the order of Sort.
func placing(tokens []Token) map[string]int {
	order := map[string]int{}
	for _, t := range tokens {
		if n, err := strconv.Atoi(t.Name); err == nil {
			order[t.Name] = n - 1
		} else if _, ok := order[t.Name]; !ok {
			order[t.Name] = len(order)
		}
	}
	return order
}

// Literals turns each row of a batch into literals for ps, in their order.
func Literals(ps []Param, batch arrow.RecordBatch) ([][]string, error) {
	columns, err := columnsFor(ps, batch.Schema())
	if err != nil {
		return nil, err
	}
	rows := make([][]string, batch.NumRows())
	for i := range rows {
		rows[i] = make([]string, len(ps))
		for j, p := range ps {
			if rows[i][j], err = Literal(batch.Column(columns[j]), i, p); err != nil {
				return nil, status.Wrap(status.InvalidArgument, err, "parameter %s", p.Name)
			}
		}
	}
	return rows, nil
}

// columnsFor finds the column of each parameter: by name when all parameters
// are named and the columns have these names, else by position.
func columnsFor(ps []Param, schema *arrow.Schema) ([]int, error) {
	if n := schema.NumFields(); n != len(ps) {
		return nil, status.New(status.InvalidArgument, "the statement has %d parameters, %d values are bound", len(ps), n)
	}
	byName := map[string]int{}
	for i, f := range schema.Fields() {
		byName[strings.TrimPrefix(strings.ToLower(f.Name), "$")] = i
	}
	columns, named := make([]int, len(ps)), true
	for i, p := range ps {
		at, ok := byName[p.Name]
		columns[i] = at
		named = named && ok && (p.Name[0] < '0' || p.Name[0] > '9')
	}
	if !named {
		for i := range columns {
			columns[i] = i
		}
	}
	return columns, nil
}
