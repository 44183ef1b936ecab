package catalog

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

// Snapshot is one immutable view of the federation. Readers keep it for the
// length of a query; the catalog publishes a new one when something changes.
type Snapshot struct {
	// Version rises with every published change.
	Version uint64
	// Tables by "schema.name".
	Tables map[string]*Table
	// Scanners by name.
	Scanners map[string]*Scanner
}

// Table is a federated table: the union of its partitions.
type Table struct {
	Schema, Name string
	// Arrow is the federated schema: the columns that every partition has, in
	// the order of the first owner.
	Arrow *arrow.Schema
	// Partitions in id order; an id is unique within the table.
	Partitions []Partition
	// Err makes the table unusable (for example: schemas of two partitions
	// differ); every query that reads it fails with this error.
	Err error
}

// ID returns "schema.name".
func (t *Table) ID() string { return t.Schema + "." + t.Name }

// Partition is one physical partition and the scanners that own a replica.
type Partition struct {
	ID string
	// Owners, at least one, in name order.
	Owners []*Scanner
	// Rows is the exact number of rows, or -1 when unknown.
	Rows int64
	// Bytes is the size of the partition at its source, or -1 when unknown.
	Bytes int64
}

// Scanner is one scanner node as last seen.
type Scanner struct {
	// Name is the node's own name; Addr its host:port.
	Name, Addr string
	// Epoch changes whenever the scanner restarts.
	Epoch string
	// Capabilities are what the scanner may be asked to run.
	Capabilities pushdown.Capabilities
	// Err is why the scanner is not usable now, or nil.
	Err error
}
