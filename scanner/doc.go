// Package scanner is a scanner node as a library: it serves the partitions of
// tables over Arrow Flight, to any Flight client and to coordinators.
//
// A table's data comes from a [Source]. A source that only yields rows is
// enough: what it cannot do of a specification itself, the scanner does with
// the kernels of package pushdown, over several partitions at once. The package
// is pure Go, so that a service can serve its own data without cgo:
//
//	s, err := scanner.New(scanner.Config{
//		Name:   "s1",
//		Tables: []scanner.Table{{Name: "orders", Source: memory.New(schema, partitions)}},
//	})
//	…
//	err = s.Serve(ctx, listener)
package scanner
