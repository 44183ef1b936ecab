// Package exec runs plans: it opens one stream per scanner and scan, grants
// credit, runs with the pushdown kernels what a scanner could not, and feeds
// what arrives to the embedded engine, or straight to the client when the plan
// needs no engine.
//
// The life of a scan here: a remoteScan is one plan.RemoteScan of one query
// (remote.go); opening it (open.go) starts a goroutine per target (target.go),
// which reads batches, passes them through a processor (process.go: labels, the
// residual of the split, raw rows of a peer that did not understand the spec)
// and puts them into one bounded queue (queue.go). The engine (input.go) or the
// client (passthrough.go) takes them out, which returns the credit.
//
// Every failed stream fails the query: a result is complete or it is an error.
// Batches belong to whoever got them last; a queue that is closed releases what
// is left in it.
package exec
