// Package pb holds the generated protobuf messages of tributary.v1. Only
// package codec uses them; regenerate with `make proto`.
package pb
