// Package ipc measures, splits and compacts record batches by their encoded
// size.
package ipc
