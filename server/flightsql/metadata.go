package flightsql

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/query"
)

// metadataBytes is the size at which a message of tables ends: small, so that
// the next is made while it is sent and read.
const metadataBytes = 512 << 10

// tableType is the type of every table; BI tools ask for TABLE and VIEW.
const tableType = "TABLE"

type (
	info   = *flight.FlightInfo
	desc   = *flight.FlightDescriptor
	chunks = <-chan flight.StreamChunk
)

// metadataInfo describes the result of a metadata command: one endpoint whose
// ticket is the command itself.
func (s *Server) metadataInfo(d desc, schema *arrow.Schema) (info, error) {
	return &flight.FlightInfo{
		Schema:           flight.SerializeSchema(schema, s.Alloc),
		FlightDescriptor: d,
		Endpoint:         []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: d.Cmd}}},
		TotalRecords:     -1,
		TotalBytes:       -1,
	}, nil
}

// rows builds one batch of a metadata result with fill.
func (s *Server) rows(schema *arrow.Schema, fill func(*array.RecordBuilder)) (*arrow.Schema, chunks, error) {
	b := array.NewRecordBuilder(s.Alloc, schema)
	defer b.Release()
	fill(b)
	return inMessages(b.NewRecordBatch())
}

// GetFlightInfoCatalogs describes DoGetCatalogs.
func (s *Server) GetFlightInfoCatalogs(_ context.Context, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.Catalogs)
}

// DoGetCatalogs lists the one catalog.
func (s *Server) DoGetCatalogs(context.Context) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.Catalogs, func(b *array.RecordBuilder) { text(b, 0, query.CatalogName) })
}

// GetFlightInfoSchemas describes DoGetDBSchemas.
func (s *Server) GetFlightInfoSchemas(_ context.Context, _ flightsql.GetDBSchemas, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.DBSchemas)
}

// DoGetDBSchemas lists the schemas that match.
func (s *Server) DoGetDBSchemas(ctx context.Context, cmd flightsql.GetDBSchemas) (*arrow.Schema, chunks, error) {
	match := likePattern(cmd.GetDBSchemaFilterPattern())
	names := map[string]bool{"main": true}
	snap, err := s.service.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range snap.Tables {
		names[t.Schema] = true
	}
	return s.rows(schema_ref.DBSchemas, func(b *array.RecordBuilder) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if isCatalog(cmd.GetCatalog()) && match.match(name) {
				text(b, 0, query.CatalogName)
				text(b, 1, name)
			}
		}
	})
}

// GetFlightInfoTables describes DoGetTables.
func (s *Server) GetFlightInfoTables(_ context.Context, cmd flightsql.GetTables, d desc) (info, error) {
	return s.metadataInfo(d, tablesSchema(cmd))
}

func tablesSchema(cmd flightsql.GetTables) *arrow.Schema {
	if cmd.GetIncludeSchema() {
		return schema_ref.TablesWithIncludedSchema
	}
	return schema_ref.Tables
}

// DoGetTables lists the tables that match, from the cached catalog.
func (s *Server) DoGetTables(ctx context.Context, cmd flightsql.GetTables) (*arrow.Schema, chunks, error) {
	set, err := s.settings(ctx)
	if err != nil {
		return nil, nil, err
	}
	snap, err := s.service.Snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	tables := matchTables(snap, cmd)
	var schemas [][]byte
	if cmd.GetIncludeSchema() {
		schemas = s.schemas.schemas(tables, len(snap.Tables), set.ResultTypes, s.Alloc)
	}
	return tablesSchema(cmd), s.tableRows(ctx, tables, schemas), nil
}

// tableRows yields the rows of GetTables, with the schemas if there are any, in
// messages that are made while others are sent.
func (s *Server) tableRows(ctx context.Context, tables []*catalog.Table, schemas [][]byte) chunks {
	out := make(chan flight.StreamChunk, 2)
	go func() {
		defer close(out)
		defer func() {
			if r := recover(); r != nil { // no interceptor is around this goroutine
				err := status.New(status.Internal, "internal error: %v", r)
				select {
				case out <- flight.StreamChunk{Err: err}:
				case <-ctx.Done():
				}
			}
		}()
		for from := 0; from < len(tables); {
			to := messageEnd(tables, schemas, from)
			var part [][]byte
			if schemas != nil {
				part = schemas[from:to]
			}
			batch := s.tableBatch(tables[from:to], part)
			select {
			case out <- flight.StreamChunk{Data: batch}:
			case <-ctx.Done():
				batch.Release()
				return
			}
			from = to
		}
	}()
	return out
}

// messageEnd is where the message of tables ends that begins at from.
func messageEnd(tables []*catalog.Table, schemas [][]byte, from int) int {
	bytes, to := 0, from
	for ; to < len(tables) && (to == from || bytes < metadataBytes); to++ {
		bytes += len(tables[to].Schema) + len(tables[to].Name) + 64
		if schemas != nil {
			bytes += len(schemas[to])
		}
	}
	return to
}

// tableBatch is a message of GetTables.
func (s *Server) tableBatch(tables []*catalog.Table, schemas [][]byte) arrow.RecordBatch {
	schema := schema_ref.Tables
	if schemas != nil {
		schema = schema_ref.TablesWithIncludedSchema
	}
	b := array.NewRecordBuilder(s.Alloc, schema)
	defer b.Release()
	b.Reserve(len(tables))
	for _, t := range tables {
		text(b, 0, query.CatalogName)
		text(b, 1, t.Schema)
		text(b, 2, t.Name)
		text(b, 3, tableType)
	}
	if schemas != nil {
		size := 0
		for _, raw := range schemas {
			size += len(raw)
		}
		column := b.Field(4).(*array.BinaryBuilder)
		column.ReserveData(size)
		for _, raw := range schemas {
			column.Append(raw)
		}
	}
	return b.NewRecordBatch()
}

func matchTables(snap *catalog.Snapshot, cmd flightsql.GetTables) []*catalog.Table {
	if types := cmd.GetTableTypes(); !isCatalog(cmd.GetCatalog()) || len(types) > 0 && !slices.Contains(types, tableType) {
		return nil
	}
	schema, name := likePattern(cmd.GetDBSchemaFilterPattern()), likePattern(cmd.GetTableNameFilterPattern())
	var matched []*catalog.Table
	for _, t := range snap.Tables {
		if schema.match(t.Schema) && name.match(t.Name) {
			matched = append(matched, t)
		}
	}
	slices.SortFunc(matched, func(a, b *catalog.Table) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return matched
}

// GetFlightInfoTableTypes describes DoGetTableTypes.
func (s *Server) GetFlightInfoTableTypes(_ context.Context, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.TableTypes)
}

// DoGetTableTypes lists the one type of table.
func (s *Server) DoGetTableTypes(context.Context) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.TableTypes, func(b *array.RecordBuilder) { text(b, 0, tableType) })
}

// GetFlightInfoPrimaryKeys describes DoGetPrimaryKeys.
func (s *Server) GetFlightInfoPrimaryKeys(_ context.Context, _ flightsql.TableRef, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.PrimaryKeys)
}

// DoGetPrimaryKeys is empty: federated tables have no keys.
func (s *Server) DoGetPrimaryKeys(context.Context, flightsql.TableRef) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.PrimaryKeys, func(*array.RecordBuilder) {})
}

// GetFlightInfoImportedKeys describes DoGetImportedKeys.
func (s *Server) GetFlightInfoImportedKeys(_ context.Context, _ flightsql.TableRef, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.ImportedKeys)
}

// DoGetImportedKeys is empty.
func (s *Server) DoGetImportedKeys(context.Context, flightsql.TableRef) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.ImportedKeys, func(*array.RecordBuilder) {})
}

// GetFlightInfoExportedKeys describes DoGetExportedKeys.
func (s *Server) GetFlightInfoExportedKeys(_ context.Context, _ flightsql.TableRef, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.ExportedKeys)
}

// DoGetExportedKeys is empty.
func (s *Server) DoGetExportedKeys(context.Context, flightsql.TableRef) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.ExportedKeys, func(*array.RecordBuilder) {})
}

// GetFlightInfoCrossReference describes DoGetCrossReference.
func (s *Server) GetFlightInfoCrossReference(_ context.Context, _ flightsql.CrossTableRef, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.CrossReference)
}

// DoGetCrossReference is empty.
func (s *Server) DoGetCrossReference(context.Context, flightsql.CrossTableRef) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.CrossReference, func(*array.RecordBuilder) {})
}

func text(b *array.RecordBuilder, column int, value string) {
	b.Field(column).(*array.StringBuilder).Append(value)
}

// isCatalog reports whether a catalog filter lets the one catalog through.
func isCatalog(filter *string) bool { return filter == nil || *filter == query.CatalogName }
