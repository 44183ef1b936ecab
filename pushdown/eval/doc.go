// Package eval compiles pushdown expressions into programs over Arrow batches.
//
// A batch is evaluated in chunks of a few thousand rows that stay in the cache.
// Every node of a program owns the scratch memory of its result, so that
// evaluation allocates nothing per row; this is why a program serves one
// goroutine at a time.
//
// Values are plain slices with a validity bitmap beside them. Booleans are two
// bitmaps, the rows that are true and the rows that are false: three-valued
// logic is then a few word operations, and NULL is neither.
//
// What can raise an error runs only on the rows that need it: a CASE branch on
// the rows that take it, an argument of AND, OR and COALESCE on the rows that
// the arguments before it leave open, a conjunct of a filter on the rows that
// the conjuncts that cannot fail let through.
package eval
