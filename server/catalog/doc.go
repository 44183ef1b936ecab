// Package catalog knows the scanners, their tables and partitions. It greets
// every configured scanner, refreshes what it learned, and publishes immutable
// snapshots that planner and executor read without locks.
package catalog
