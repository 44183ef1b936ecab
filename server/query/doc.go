// Package query takes one statement from text to a running result.
//
// classify.go says what kind of statement it is; settings.go and session.go
// hold what a client has SET; service.go plans SELECTs and runs them through
// the executor; explain.go renders EXPLAIN and EXPLAIN ANALYZE; metrics.go
// counts. The Flight SQL surface and the command line sit on top of it.
package query
