// Package system serves what a coordinator knows of its own queries as tables:
// system.queries, system.query_rounds and system.scans. They are the tables of a
// scanner in the coordinator's process, so that they are filtered, joined and
// explained like any others.
package system
