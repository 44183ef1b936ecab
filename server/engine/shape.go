package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Short statements can be large ones in disguise: SELECT *, * doubles the columns
// at every level of nesting, and the order of n inner joins takes time that grows
// with the fourth power of n. Neither can be interrupted.
const (
	// maxWidth is how many times the columns of a table may be repeated.
	maxWidth = 4096
	// maxJoined is how many tables one FROM may join with inner joins.
	maxJoined = 48
	// maxLambdas is how deep lambdas may nest: binding takes twice as long for
	// each level.
	maxLambdas = 16
)

// checkShape refuses a parsed statement that would not be planned in bounded
// time and memory.
func checkShape(statement []byte) error {
	count := func(what string) int { return bytes.Count(statement, []byte(what)) }
	if count(`"type":"STAR"`) < 2 && count(`"type":"JOIN"`) < maxJoined && count(`"class":"LAMBDA"`) <= maxLambdas {
		return nil
	}
	var tree any
	if err := json.Unmarshal(statement, &tree); err != nil {
		return status.Wrap(status.Internal, err, "read the parsed statement")
	}
	s := shape{}
	s.width(tree, map[string]float64{})
	switch {
	case lambdas(tree) > maxLambdas:
		return status.New(status.InvalidArgument, "the statement nests more than %d lambdas", maxLambdas)
	case s.widest > maxWidth:
		return status.New(status.InvalidArgument, "the stars of the statement stand for the columns of %.3g tables; at most %d are accepted", s.widest, maxWidth)
	case s.joined > maxJoined:
		return status.New(status.InvalidArgument, "the statement joins %d tables at once; at most %d are accepted (a WITH … AS MATERIALIZED divides it)", s.joined, maxJoined)
	}
	return nil
}

// shape is the extremes of a statement.
type shape struct {
	widest float64
	joined int
}

// width estimates how many tables' columns a part of a parse tree yields; ctes
// has the widths of the named queries in scope.
func (s *shape) width(tree any, ctes map[string]float64) float64 {
	switch t := tree.(type) {
	case []any:
		most := 0.0
		for _, child := range t {
			most = max(most, s.width(child, ctes))
		}
		return most
	case map[string]any:
		w := s.nodeWidth(t, s.scope(t, ctes))
		s.widest = max(s.widest, w)
		return w
	}
	return 0
}

// scope adds the named queries of a node, in their order.
func (s *shape) scope(node map[string]any, ctes map[string]float64) map[string]float64 {
	list, _ := node["cte_map"].(map[string]any)
	entries, _ := list["map"].([]any)
	if len(entries) == 0 {
		return ctes
	}
	ctes = maps.Clone(ctes)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		name, _ := entry["key"].(string)
		ctes[strings.ToLower(name)] = s.width(entry["value"], ctes)
	}
	return ctes
}

func (s *shape) nodeWidth(node map[string]any, ctes map[string]float64) float64 {
	switch node["type"] {
	case "SELECT_NODE":
		return s.selectWidth(node, ctes)
	case "JOIN":
		s.joined = max(s.joined, inner(node))
		s.width(node["condition"], ctes)
		return s.width(node["left"], ctes) + s.width(node["right"], ctes)
	case "BASE_TABLE":
		name, _ := node["table_name"].(string)
		return max(1, ctes[strings.ToLower(name)])
	}
	most := 0.0
	for key, child := range node {
		if key != "cte_map" {
			most = max(most, s.width(child, ctes))
		}
	}
	return most
}

// selectWidth has one FROM for each star in the list of a SELECT.
func (s *shape) selectWidth(node map[string]any, ctes map[string]float64) float64 {
	from := s.width(node["from_table"], ctes)
	for key, child := range node {
		if key != "cte_map" && key != "from_table" {
			s.width(child, ctes)
		}
	}
	stars := countStars(node["select_list"])
	return max(1, float64(stars)*from)
}

// countStars counts * and COLUMNS(…) outside of subqueries.
func countStars(tree any) int {
	n := 0
	switch t := tree.(type) {
	case []any:
		for _, child := range t {
			n += countStars(child)
		}
	case map[string]any:
		if t["class"] == "SUBQUERY" {
			return 0
		}
		if t["type"] == "STAR" {
			n++
		}
		for _, child := range t {
			n += countStars(child)
		}
	}
	return n
}

// inner counts what a tree of inner joins joins.
func inner(tree any) int {
	node, _ := tree.(map[string]any)
	if node["type"] != "JOIN" || node["join_type"] != "INNER" {
		return 1
	}
	return inner(node["left"]) + inner(node["right"])
}

// lambdas is how deep lambdas nest.
func lambdas(tree any) int {
	deepest := 0
	switch t := tree.(type) {
	case []any:
		for _, child := range t {
			deepest = max(deepest, lambdas(child))
		}
	case map[string]any:
		for _, child := range t {
			deepest = max(deepest, lambdas(child))
		}
		if t["class"] == "LAMBDA" {
			deepest++
		}
	}
	return deepest
}
