// Package run executes a specification over the batches of one stream: filter,
// lookups in the relations that came with it, then aggregate, top-N, limit or projection. A scanner runs it over each
// partition of a source that only yields rows; a coordinator runs it over what a
// scanner did not do.
//
// A grouped result is partial: when the table is full, or while grouping does
// not reduce the rows, rows go out early and one group may have several. Merging
// them gives the answer.
package run
