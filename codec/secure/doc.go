// Package secure guards connections at both ends: TLS whose files are read
// again when they change (tls.go), the secret that a coordinator and its
// scanners share (secret.go), and values kept from watched files (file.go).
package secure
