package duckdb

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// manyValues is where a list costs more to parse and bind, literal by literal,
// than to read as one text.
const manyValues = 24

// separator stands between the texts of a list. A list with a text that holds
// it is written literal by literal.
const separator = "\x1f"

// renderMembers writes x IN (many values) as a semi join with one constant that
// holds them all, and "" where that cannot be done. It is for conjuncts of a
// WHERE only, which do not tell NULL from FALSE.
func renderMembers(e pushdown.Expr) (string, error) {
	in, ok := e.(pushdown.In)
	if !ok || in.Negated || len(in.Values) < manyValues {
		return "", nil
	}
	list := listSQL(in)
	if list == "" {
		return "", nil
	}
	arg, err := render(in.Arg)
	return "(" + arg + " IN (SELECT " + list + "))", err
}

// listSQL yields the values as rows, NULL left out: no row equals it.
func listSQL(in pushdown.In) string {
	typ, err := sqlType(in.Arg.Type())
	if err != nil {
		return ""
	}
	texts := make([]string, 0, len(in.Values))
	for _, v := range in.Values {
		if v.Value == nil || !arrow.TypeEqual(v.Value.DataType(), pushdown.ValueType(in.Arg.Type())) {
			return ""
		}
		if !v.Value.IsValid() {
			continue
		}
		text, ok := element(v.Value)
		if !ok {
			return ""
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	switch {
	case typ == "VARCHAR":
		return "unnest(string_split(" + quoteText(strings.Join(texts, separator)) + ", chr(31)))"
	case typ == "DATE":
		return "DATE '1970-01-01' + unnest(CAST('[" + strings.Join(texts, ",") + "]' AS INTEGER[]))"
	}
	return "unnest(CAST('[" + strings.Join(texts, ",") + "]' AS " + typ + "[]))"
}

// element is a value in the text of a list; not ok for one that a list does not
// bring back exactly.
func element(s scalar.Scalar) (string, bool) {
	if text, ok := pushdown.IntegerText(s); ok {
		return text, true
	}
	switch s := s.(type) {
	case *scalar.Date32:
		return strconv.Itoa(int(s.Value)), !strings.Contains(dateLiteral(int64(s.Value)), "infinity")
	case *scalar.String, *scalar.LargeString:
		text := string(s.(scalar.BinaryScalar).Data())
		plain, err := textLiteral(text)
		return text, err == nil && plain == quoteText(text) && !strings.Contains(text, separator)
	}
	return "", false
}
