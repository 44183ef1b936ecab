// Package plan turns SQL into a plan: what each scanner runs, and the SQL that
// the embedded engine runs over what they send.
//
// The life of a statement here: the engine binds it on empty shadow tables and
// hands over DuckDB's bound plan as JSON (bind_*.go reads it into the IR of
// node.go and expr.go); the rules (rule_*.go, in the order of rules.go) move
// work into the scans; remote.go turns each scan into a pushdown.Spec split by
// what its owners can do, without the partitions that prune*.go proves to have
// no row for it; render_*.go writes what is left as SQL. print.go is
// the text of a plan, used by EXPLAIN and by the tests.
package plan
