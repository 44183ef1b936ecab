// Package pushdowntest is what tests need to know whether a kernel is right: a
// slow reference interpreter that works row by row on Go values, generators of
// random schemas, batches and specs, and the comparison of results.
//
// A value is nil for NULL, bool, *big.Int (integers, unscaled decimals, dates,
// times and timestamps), float64 (float32 too) or string (strings and binaries).
package pushdowntest
