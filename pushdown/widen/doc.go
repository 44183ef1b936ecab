// Package widen is what happens to columns whose type differs between the
// partitions of a table. [Common] finds the type of the table: the least type
// that holds the values of all partitions. [Array] and [Batch] bring values to
// it, exactly: a value that the wider type cannot hold is an error, never
// another value.
//
// The lattice:
//
//   - integers: the narrowest integer that holds both ranges; UINT64 with a
//     signed integer is DECIMAL(20,0)
//   - integers and decimals: the decimal with the digits of both before and
//     behind the point, at most 38
//   - decimals of 32, 64 and 256 bits: the decimal of 128 bits; a value of more
//     than 38 digits is an error
//   - FLOAT with integers, decimals of scale 0 or DOUBLE: DOUBLE; values beyond
//     2^53 must be exact in it
//   - DATE and TIMESTAMP: TIMESTAMP; timestamps and times of different units: the
//     finer one; with and without time zone do not meet
//   - text of any width and dictionaries of text: text; so binary
//   - lists, maps and structs: their children, by name in structs; a field that
//     one of them lacks is NULL
//   - NULL and any type: that type
package widen
