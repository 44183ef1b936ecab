// Package partition has what the owner of a table may promise about its
// partitions, and the hash function of such promises.
//
// A [Promise] is of one partition: all values that a column may have in it
// (partitioning by identity), or the buckets of a hash that its rows are in. It
// is made by whoever divides the rows, holds for all that the partition will
// ever contain, and lets a coordinator leave partitions out and prove that two
// of them have no key in common. It is never taken from a setting of a user.
//
// # The hash
//
// The bucket of a row is XXH64, with seed 0, of the canonical bytes of its
// values in the columns of the hash, one behind the other, modulo the number of
// buckets. Numbers are little-endian. The canonical bytes of a value begin with
// a letter and depend on the value alone, not on how a type or an array has it:
//
//	boolean                 'b', then 0 or 1
//	integer, decimal        'n', then the scale (8 bits) and the unscaled number (128 bits, two's
//	                        complement), with the least scale that is exact: 5, 5.0 and 5.00 are the same
//	float                   'f', then the bits of the float64; -0 is +0, any NaN is 0x7ff8000000000000
//	text                    's', then the length in bytes (64 bits) and the bytes
//	binary                  'x', then the length and the bytes
//	date, timestamp         't', then the seconds since 1970-01-01 00:00:00 (64 bits, rounded down)
//	                        and the nanoseconds within the second (32 bits), whatever unit and zone
//	time of day             'c', then nanoseconds since midnight (64 bits)
//
// Text is the same in any encoding, dictionaries included. An integer and a
// float are different values. NULL has no bytes: a row with a NULL in one of the
// columns may be in any partition.
package partition
