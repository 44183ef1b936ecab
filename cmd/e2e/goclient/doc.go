// Package goclient has the tests of Go clients: the Flight SQL client and the
// database/sql driver of arrow-go, and plain gRPC for what neither sends. They
// have the build tag clients, because they run against server processes that
// cmd/e2e/python starts; the environment says where:
//
//	FLIGHT_URI        grpc://HOST:PORT, or grpc+tls://HOST:PORT
//	FLIGHT_USER, FLIGHT_PASSWORD, FLIGHT_TOKEN, FLIGHT_TLS_ROOTS
//	SCANNER_METRICS   the /metrics addresses of the scanners
package goclient
