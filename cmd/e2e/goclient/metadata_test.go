//go:build clients

package goclient

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

type ask func(context.Context, *flightsql.Client) (*flight.FlightInfo, error)

var noTable = flightsql.TableRef{Table: "no_such_table"}

func typeInfo(kind *int32) ask {
	return func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
		return c.GetXdbcTypeInfo(ctx, kind)
	}
}

func tables(withSchema bool) ask {
	return func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
		return c.GetTables(ctx, &flightsql.GetTablesOpts{IncludeSchema: withSchema})
	}
}

func sqlInfo(codes ...flightsql.SqlInfo) ask {
	return func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
		return c.GetSqlInfo(ctx, codes)
	}
}

func TestMetadataHasTheSchemasSpecified(t *testing.T) {
	integer := int32(4)
	for name, c := range map[string]struct {
		want *arrow.Schema
		ask  ask
	}{
		"catalogs": {schema_ref.Catalogs, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) { return c.GetCatalogs(ctx) }},
		"schemas": {schema_ref.DBSchemas, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
			return c.GetDBSchemas(ctx, &flightsql.GetDBSchemasOpts{})
		}},
		"table types": {schema_ref.TableTypes, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
			return c.GetTableTypes(ctx)
		}},
		"tables":             {schema_ref.Tables, tables(false)},
		"tables with schema": {schema_ref.TablesWithIncludedSchema, tables(true)},
		"sql info":           {schema_ref.SqlInfo, sqlInfo(0, 1, 2, 8)},
		"all sql info":       {schema_ref.SqlInfo, sqlInfo()},
		"types":              {schema_ref.XdbcTypeInfo, typeInfo(nil)},
		"one type":           {schema_ref.XdbcTypeInfo, typeInfo(&integer)},
		"primary keys": {schema_ref.PrimaryKeys, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
			return c.GetPrimaryKeys(ctx, noTable)
		}},
		"imported keys": {schema_ref.ImportedKeys, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
			return c.GetImportedKeys(ctx, noTable)
		}},
		"exported keys": {schema_ref.ExportedKeys, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
			return c.GetExportedKeys(ctx, noTable)
		}},
		"cross reference": {schema_ref.CrossReference, func(ctx context.Context, c *flightsql.Client) (*flight.FlightInfo, error) {
			return c.GetCrossReference(ctx, noTable, noTable)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, client := connect(t)
			info, err := c.ask(ctx, client)
			require.NoError(t, err)
			promised, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
			require.NoError(t, err)
			require.True(t, c.want.Equal(promised), "promised %s, specified %s", promised, c.want)
			_, _, err = fetch(ctx, client, info, nil)
			require.NoError(t, err)
		})
	}
}

func TestTableSchemaNamesSQLTypes(t *testing.T) {
	ctx, client := connect(t)
	name := "types"
	info, err := client.GetTables(ctx, &flightsql.GetTablesOpts{TableNameFilterPattern: &name, IncludeSchema: true})
	require.NoError(t, err)
	reader, err := client.DoGet(ctx, info.Endpoint[0].Ticket)
	require.NoError(t, err)
	defer reader.Release()
	require.True(t, reader.Next())
	schema, err := flight.DeserializeSchema(reader.RecordBatch().Column(4).(*array.Binary).Value(0), memory.DefaultAllocator)
	require.NoError(t, err)
	require.NotZero(t, schema.NumFields())
	for _, f := range schema.Fields() {
		_, ok := f.Metadata.GetValue(flightsql.TypeNameKey)
		require.True(t, ok, "%s", f)
	}
}

func TestUnknownSQLInfoDoesNotFailTheRequest(t *testing.T) {
	ctx, client := connect(t)
	info, err := client.GetSqlInfo(ctx, []flightsql.SqlInfo{0, 59999})
	rows, _, err := fetch(ctx, client, info, err)
	require.NoError(t, err)
	require.EqualValues(t, 1, rows)
}

func TestTablesAreListedQuickly(t *testing.T) {
	ctx, client := connect(t)
	begun := time.Now()
	schema := "main"
	info, err := client.GetTables(ctx, &flightsql.GetTablesOpts{IncludeSchema: true, DbSchemaFilterPattern: &schema})
	rows, _, err := fetch(ctx, client, info, err)
	require.NoError(t, err)
	require.EqualValues(t, 2, rows)
	require.Less(t, time.Since(begun), 2*time.Second)
}

func TestSession(t *testing.T) {
	ctx, client := connect(t)
	got, err := client.GetSessionOptions(ctx, &flight.GetSessionOptionsRequest{})
	require.NoError(t, err)
	catalog := got.GetSessionOptions()["catalog"]
	require.NotNil(t, catalog)
	set, err := client.SetSessionOptions(ctx, &flight.SetSessionOptionsRequest{SessionOptions: map[string]*flight.SessionOptionValue{"catalog": catalog}})
	require.NoError(t, err)
	require.Empty(t, set.Errors)
	unknown, err := flight.NewSessionOptionValues(map[string]any{"no_such_option": "x"})
	require.NoError(t, err)
	set, err = client.SetSessionOptions(ctx, &flight.SetSessionOptionsRequest{SessionOptions: unknown})
	require.NoError(t, err)
	require.Equal(t, flight.SetSessionOptionsResultErrorInvalidName, set.Errors["no_such_option"].GetValue())
	_, err = client.CloseSession(ctx, &flight.CloseSessionRequest{})
	require.NoError(t, err)
}
