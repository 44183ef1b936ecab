// Package codectest helps to test what reads from scanners: a [Scanner] over
// batches in memory that runs any specification, and a [Fault] that an
// [Interceptor] puts into the streams of any scanner, always at the same place.
package codectest
