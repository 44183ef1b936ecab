// Package agg is the hash aggregation of Tributary: it turns rows into partial
// aggregate rows and partial rows into fewer partial rows.
//
// Groups are found by value. Every key column has a table that gives each of its
// distinct values a dense id (NULL is a value); two ids are combined into the id
// of the pair, and so on. A group is thus a number, found without a row encoding
// and without an allocation per row; a hash only says where to look.
//
// Accumulators see dense arrays: rows without a value are dropped before the
// loop. The rows they emit are merge-stable: merging them in any order and
// grouping gives the same answer.
package agg
