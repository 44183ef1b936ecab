// Package flightsql is the Flight SQL surface of a coordinator, over
// server/query: statements and prepared statements (statement.go), their
// sealed, stateless handles (handle.go) and tickets (flightinfo.go), metadata from the catalog
// (metadata.go, sqlinfo.go), sessions bound to connections and to cookies (session.go, cookie.go), and
// the interceptors that recover panics and translate errors (interceptor.go).
//
// Every statement is planned when it is prepared and again, if its plan is no
// longer fresh, when its rows are fetched; nothing runs before DoGet.
// The specification: https://arrow.apache.org/docs/format/FlightSql.html.
package flightsql
