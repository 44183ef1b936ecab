package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Snapshot is one immutable view of the federation. Readers keep it for the
// length of a query; the catalog publishes a new one when something changes.
type Snapshot struct {
	// Version rises with every published change.
	Version uint64
	// Tables by "schema.name".
	Tables map[string]*Table
	// Scanners by name; one that has no usable name (never reached, or its name
	// is taken) is listed by its address.
	Scanners map[string]*Scanner
	// Missing are the configured scanners whose tables are not in the snapshot,
	// because they never answered or their name is taken. While there is one,
	// any table may lack partitions: see [Snapshot.Usable].
	Missing []*Scanner
}

// Ready reports whether every configured scanner has contributed its tables.
func (s *Snapshot) Ready() bool { return len(s.Missing) == 0 }

// Usable is nil when the snapshot is complete, else an Unavailable error that
// names the missing scanners: a query must not silently miss their rows.
func (s *Snapshot) Usable() error {
	if s.Ready() {
		return nil
	}
	var why []string
	for _, m := range s.Missing {
		why = append(why, m.Addr+" ("+m.Err.Error()+")")
	}
	return status.New(status.Unavailable,
		"the tables are not complete yet, waiting for scanner %s; start it or remove it from the configuration",
		strings.Join(why, ", "))
}

// WithoutStatistics is the same view for plans that must not depend on versions
// of tables.
func (s *Snapshot) WithoutStatistics() *Snapshot {
	out := *s
	out.Tables = make(map[string]*Table, len(s.Tables))
	for id, t := range s.Tables {
		bare := *t
		bare.Versions, bare.PromiseVersions, bare.Versioned = nil, nil, nil
		out.Tables[id] = &bare
	}
	return &out
}

// Table is a federated table: the union of its partitions.
type Table struct {
	Schema, Name string
	// Arrow is the federated schema: the columns of all owners, in order of first
	// appearance, each of a type that holds the values of all. It may be nil when
	// Err is set.
	Arrow *arrow.Schema
	// Schemas are the owners' own schemas, by the name of the scanner.
	Schemas map[string]OwnSchema
	// Partitions in id order; an id is unique within the table.
	Partitions []Partition
	// Versions are, by the name of the scanner, what its part of the table was
	// when its statistics were read; a scanner without statistics has none.
	Versions map[string]string
	// PromiseVersions are, by the name of the scanner, those of what the owner of
	// its part promises; a scanner without promises has none.
	PromiseVersions map[string]string
	// Versioned has the scanners whose version tells every change of rows.
	Versioned map[string]bool
	// Restriction is nil for users who may read all of the table.
	Restriction *Restriction
	// Err makes the table unusable (for example: a column is text in one partition
	// and a number in another); every query that reads it fails with this error.
	Err error
}

// OwnSchema is a table as one scanner has it.
type OwnSchema struct {
	Arrow *arrow.Schema
	// Version is what the scanner compares when it is asked for rows; empty when
	// it does not.
	Version string
}

// Narrow reports whether a scanner lacks one of the columns or has it with a
// narrower type: it must be able to widen, or its rows are widened by whoever
// reads them.
func (t *Table) Narrow(scanner string, columns []pushdown.Column) bool {
	own := t.Schemas[scanner].Arrow
	if own == nil {
		return false
	}
	return slices.ContainsFunc(columns, func(c pushdown.Column) bool {
		at := own.FieldIndices(c.Name)
		return len(at) == 0 || !arrow.TypeEqual(own.Field(at[0]).Type, c.DataType)
	})
}

// Restriction is what keeps a user from seeing all of a table. The user's copy of
// the table has only the columns that he may name, and no statistics, which
// would tell of rows that he may not read.
type Restriction struct {
	// Filter must hold for every row that any scan of the table yields.
	Filter []pushdown.Expr
	// Arrow has all columns of the table: Filter may name hidden ones.
	Arrow *arrow.Schema
}

// Rules identifies what keeps a user from seeing all of a table, "" for nothing.
func (t *Table) Rules() string {
	if t.Restriction == nil {
		return ""
	}
	var names []string
	if t.Arrow != nil {
		for _, f := range t.Arrow.Fields() {
			names = append(names, f.Name)
		}
	}
	rows := pushdown.Spec{Filter: t.Restriction.Filter, Limit: pushdown.NoLimit}
	return fmt.Sprintf("%q %x", names, rows.Hash())
}

// FullSchema has all columns of the table, also those that a user must not name.
func (t *Table) FullSchema() *arrow.Schema {
	if t.Restriction != nil {
		return t.Restriction.Arrow
	}
	return t.Arrow
}

// ID returns "schema.name".
func (t *Table) ID() string { return t.Schema + "." + t.Name }

// Partition is one physical partition and the scanners that own a replica.
type Partition struct {
	ID string
	// Owners, at least one, in name order.
	Owners []*Scanner
	// Rows is the number of rows when the scanner was last greeted, or -1 when
	// unknown.
	Rows int64
	// Bytes is the size of the partition at its source, or -1 when unknown.
	Bytes int64
	// Columns are statistics by column name on which all owners agree. Together
	// with Rows they are true as long as an owner's part of the table still has
	// the version in Table.Versions: whoever relies on them has that checked.
	Columns map[string]codec.ColumnStats
	// Promise is what all owners promise of the rows. It is true as long as an
	// owner's part of the table has the version in Table.PromiseVersions, which
	// does not change with rows.
	Promise partition.Promise
}

// Scanner is one scanner node as last seen.
type Scanner struct {
	// Name is the node's own name; Addr its host:port.
	Name, Addr string
	// Epoch changes whenever the scanner restarts.
	Epoch string
	// Capabilities are what the scanner may be asked to run.
	Capabilities pushdown.Capabilities
	// Advertise is the Flight location at which it serves tickets that this
	// coordinator seals; empty for none.
	Advertise string
	// Err is why the scanner is not usable now, or nil.
	Err error
}
