// Package access decides what a user may read. A [Policy] gives users roles and
// roles tables, of which they may hide columns and rows. A [Control] makes of it
// a scope for each kind of user: a catalog in which hidden tables and columns do
// not exist, with an engine of its own, so that no statement can name them, and
// in which a restricted table carries the filter that every scan of it applies.
package access
