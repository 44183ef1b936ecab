package plan

import (
	"bytes"
	"encoding/json"

	"github.com/tributary-db/tributary/pushdown/status"
)

// The JSON of DuckDB's bound plan, as far as the reader uses it. One struct
// carries the fields of all operators, and one those of all expressions: the
// "type" says which are set.

type jsonPlans struct {
	Error   bool       `json:"error"`
	Message string     `json:"error_message"`
	Plans   []jsonNode `json:"plans"`
}

type jsonNode struct {
	Type        string          `json:"type"`
	Children    []jsonNode      `json:"children"`
	TableIndex  uint64          `json:"table_index"`
	Expressions json.RawMessage `json:"expressions"`
	Projection  []int           `json:"projection_map"`

	// LOGICAL_GET
	Name           string           `json:"name"`
	Names          []string         `json:"names"`
	ReturnedTypes  []jsonType       `json:"returned_types"`
	ProjectionIDs  []int            `json:"projection_ids"`
	ColumnIndexes  []jsonColumn     `json:"column_indexes"`
	TableFilters   jsonTableFilters `json:"table_filters"`
	FunctionData   json.RawMessage  `json:"function_data"`
	Parameters     []jsonValue      `json:"parameters"`
	NamedParams    json.RawMessage  `json:"named_parameters"`
	ProjectedInput []int            `json:"projected_input"`
	InputTypes     []jsonType       `json:"input_table_types"`
	OrdinalityIdx  *uint64          `json:"ordinality_idx"`

	// LOGICAL_AGGREGATE_AND_GROUP_BY
	Groups            []jsonExpr `json:"groups"`
	GroupingSets      [][]int    `json:"grouping_sets"`
	GroupingFunctions [][]int    `json:"grouping_functions"`

	// LOGICAL_DISTINCT
	DistinctType    string     `json:"distinct_type"`
	DistinctTargets []jsonExpr `json:"distinct_targets"`
	OrderBy         *jsonOrder `json:"order_by"`

	// joins
	JoinType        string          `json:"join_type"`
	Conditions      []jsonCondition `json:"conditions"`
	Condition       *jsonExpr       `json:"condition"`
	LeftProjection  []int           `json:"left_projection_map"`
	RightProjection []int           `json:"right_projection_map"`
	DelimColumns    []jsonExpr      `json:"duplicate_eliminated_columns"`
	DelimFlipped    bool            `json:"delim_flipped"`

	// set operations and recursion
	SetOpAll     bool            `json:"setop_all"`
	UnionAll     bool            `json:"union_all"`
	KeyTargets   json.RawMessage `json:"key_targets"`
	RefRecurring bool            `json:"ref_recurring"`

	// ORDER BY, TOP_N, LIMIT
	Orders      []jsonSortKey `json:"orders"`
	Projections []int         `json:"projections"`
	Limit       int64         `json:"limit"`
	Offset      int64         `json:"offset"`
	LimitVal    *jsonLimit    `json:"limit_val"`
	OffsetVal   *jsonLimit    `json:"offset_val"`

	// CTE_REF, DELIM_GET, CHUNK_GET, EXPRESSION_GET, EMPTY_RESULT
	CTEIndex    uint64     `json:"cte_index"`
	IsRecurring bool       `json:"is_recurring"`
	ChunkTypes  []jsonType `json:"chunk_types"`
	ExprTypes   []jsonType `json:"expr_types"`
	ReturnTypes []jsonType `json:"return_types"`
	Collection  *struct {
		Types  []jsonType    `json:"types"`
		Values [][]jsonValue `json:"values"`
	} `json:"collection"`
}

type jsonColumn struct {
	Index        uint64            `json:"index"`
	ChildIndexes []json.RawMessage `json:"child_indexes"`
	IndexType    string            `json:"index_type"`
}

type jsonTableFilters struct {
	Filters []struct {
		Key   uint64     `json:"key"`
		Value jsonFilter `json:"value"`
	} `json:"filters"`
}

type jsonFilter struct {
	Type       string       `json:"filter_type"`
	Comparison string       `json:"comparison_type"`
	Constant   *jsonValue   `json:"constant"`
	Children   []jsonFilter `json:"child_filters"`
	Values     []jsonValue  `json:"values"`
	Expr       *jsonExpr    `json:"expr"`
}

type jsonOrder struct {
	Orders []jsonSortKey `json:"orders"`
}

type jsonSortKey struct {
	Type       string   `json:"type"`
	NullOrder  string   `json:"null_order"`
	Expression jsonExpr `json:"expression"`
}

type jsonCondition struct {
	Left       *jsonExpr `json:"left"`
	Right      *jsonExpr `json:"right"`
	Comparison string    `json:"comparison"`
	Expression *jsonExpr `json:"expression"`
}

type jsonLimit struct {
	Type     string `json:"type"`
	Constant int64  `json:"constant_integer"`
}

type jsonExpr struct {
	Class      string          `json:"expression_class"`
	Type       string          `json:"type"`
	ReturnType *jsonType       `json:"return_type"`
	Children   []jsonExpr      `json:"children"`
	Child      *jsonExpr       `json:"child"`
	Index      int             `json:"index"`
	Binding    *jsonBinding    `json:"binding"`
	Depth      int             `json:"depth"`
	Value      *jsonValue      `json:"value"`
	TryCast    bool            `json:"try_cast"`
	Left       *jsonExpr       `json:"left"`
	Right      *jsonExpr       `json:"right"`
	Input      *jsonExpr       `json:"input"`
	Lower      *jsonExpr       `json:"lower"`
	Upper      *jsonExpr       `json:"upper"`
	LowerIncl  bool            `json:"lower_inclusive"`
	UpperIncl  bool            `json:"upper_inclusive"`
	CaseChecks []jsonCaseCheck `json:"case_checks"`
	ElseExpr   *jsonExpr       `json:"else_expr"`

	// functions and aggregates
	Name              string          `json:"name"`
	Arguments         []jsonType      `json:"arguments"`
	OriginalArguments []jsonType      `json:"original_arguments"`
	HasSerialize      bool            `json:"has_serialize"`
	FunctionData      json.RawMessage `json:"function_data"`
	AggregateType     string          `json:"aggregate_type"`
	Filter            *jsonExpr       `json:"filter"`
	OrderBys          *jsonOrder      `json:"order_bys"`

	// windows
	Partitions  []jsonExpr    `json:"partitions"`
	Orders      []jsonSortKey `json:"orders"`
	Filters     *jsonExpr     `json:"filters"`
	IgnoreNulls bool          `json:"ignore_nulls"`
	Start       string        `json:"start"`
	End         string        `json:"end"`
	StartExpr   *jsonExpr     `json:"start_expr"`
	EndExpr     *jsonExpr     `json:"end_expr"`
	OffsetExpr  *jsonExpr     `json:"offset_expr"`
	DefaultExpr *jsonExpr     `json:"default_expr"`
	Exclude     string        `json:"exclude_clause"`
	Distinct    bool          `json:"distinct"`
	ArgOrders   []jsonSortKey `json:"arg_orders"`
}

type jsonBinding struct {
	Table  uint64 `json:"table_index"`
	Column int    `json:"column_index"`
}

type jsonCaseCheck struct {
	When jsonExpr `json:"when_expr"`
	Then jsonExpr `json:"then_expr"`
}

type jsonType struct {
	ID   string        `json:"id"`
	Info *jsonTypeInfo `json:"type_info"`
}

type jsonTypeInfo struct {
	Type       string     `json:"type"`
	Alias      string     `json:"alias"`
	Width      int        `json:"width"`
	Scale      int        `json:"scale"`
	Size       int        `json:"size"`
	ChildType  *jsonType  `json:"child_type"`
	ChildTypes []jsonPair `json:"child_types"`
	Values     []string   `json:"values"`
}

type jsonPair struct {
	First  string   `json:"first"`
	Second jsonType `json:"second"`
}

type jsonValue struct {
	Type   jsonType        `json:"type"`
	IsNull bool            `json:"is_null"`
	Value  json.RawMessage `json:"value"`
}

// decodePlan parses the answer of json_serialize_plan.
func decodePlan(text []byte) (*jsonNode, error) {
	var p jsonPlans
	if err := json.Unmarshal(quoteNonFinite(text), &p); err != nil {
		return nil, status.Wrap(status.Unimplemented, unsupported("a bound plan that is not JSON"), "%v", err)
	}
	if p.Error {
		return nil, unsupported("the statement: %s", p.Message)
	}
	if len(p.Plans) != 1 {
		return nil, unsupported("%d plans in one statement", len(p.Plans))
	}
	return &p.Plans[0], nil
}

// quoteNonFinite makes strings of the bare words NaN and Infinity, which DuckDB
// writes for floats and which are not JSON.
func quoteNonFinite(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			out = append(out, c, text[i+1])
			i++
			continue
		case c == '"':
			inString = !inString
		case !inString:
			if word := nonFinite(text[i:]); word != "" {
				out = append(out, `"`+word+`"`...)
				i += len(word) - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func nonFinite(text []byte) string {
	for _, word := range []string{"NaN", "-NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return word
		}
	}
	return ""
}

// unsupported is the error that makes the caller fall back to the original SQL.
func unsupported(format string, args ...any) *status.Error {
	return status.New(status.Unimplemented, "the planner does not read or write "+format, args...)
}
