// Package pushdown is the specification of the work that a coordinator may ask
// of the owner of a partition, and the root of the kernels that do that work.
//
// A [Spec] reads one table: columns, filter, and then either LIMIT, top-N or a
// partial aggregate. It is typed, small and free of engine internals, so that
// what comes back is ordinary rows. [Spec.Validate] says whether a spec can run
// over a table; [Split] divides a spec between a source that can do only part
// of it and the kernels that do the rest.
//
// The semantics are DuckDB's:
//
//   - floats: NaN equals NaN and is the greatest value, -0 equals +0;
//   - strings and binaries compare bytewise;
//   - logic is three-valued and a filter keeps the rows for which it is true;
//   - integer and decimal arithmetic and narrowing casts raise OutOfRange,
//     never wrap, and never on a row that a CASE branch or an infallible
//     conjunct of the same filter has excluded;
//   - decimals round half away from zero;
//   - NULL is a group of its own.
//
// Types. Every kernel works over a [Family]: bool; int (8 to 64 bits, both
// signs); float (32 and 64); decimal (decimal128); string (utf8, large_utf8);
// binary (binary, large_binary); date (date32); time (time64); timestamp (any
// unit, with or without zone). A dictionary of one of these belongs to the
// family of its values. Columns of any other type may be read, tested for NULL
// and counted. A decimal128(38,0) column that carries HUGEINT may hold values
// beyond 38 digits: comparing, grouping and summing them is exact, but
// arithmetic raises at 38 digits, so a planner does not push HUGEINT
// arithmetic.
//
// Casts. Valid are: a type to itself; integer to integer; integer to decimal;
// decimal to decimal; integer or decimal to float64; float32 to float64; date32
// to timestamp[us]; timestamp to a finer unit of the same zone; dictionary to
// the type of its values; string to large string and binary to large binary,
// and back.
//
// The package is pure Go and does no I/O. Sub-packages: eval compiles
// expressions, agg aggregates, run executes a whole spec over one stream, and
// pushdowntest is the slow reference.
package pushdown
