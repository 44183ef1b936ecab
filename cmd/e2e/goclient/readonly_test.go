//go:build clients

package goclient

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func refused(t testing.TB, err error) {
	t.Helper()
	require.Equal(t, codes.Unimplemented, status.Code(err), "%v", err)
	require.ErrorContains(t, err, "read-only")
}

func TestStatementsThatWriteAreRefused(t *testing.T) {
	ctx, client := connect(t)
	for _, sql := range []string{"CREATE TABLE t (a BIGINT)", "INSERT INTO events VALUES (1)", "UPDATE events SET k = 1", "DELETE FROM events", "DROP TABLE events"} {
		_, err := client.ExecuteUpdate(ctx, sql)
		refused(t, err)
		_, _, err = query(ctx, client, sql)
		refused(t, err)
	}
	require.Equal(t, "1000000", scalar(t, ctx, client, "SELECT count(*) AS n FROM events"))
}

func TestIngestIsRefused(t *testing.T) {
	ctx, client := connect(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	batch := b.NewRecordBatch()
	reader, err := array.NewRecordReader(schema, []arrow.RecordBatch{batch, batch})
	require.NoError(t, err)
	_, err = client.ExecuteIngest(ctx, reader, &flightsql.ExecuteIngestOpts{Table: "t", TableDefinitionOptions: &flightsql.TableDefinitionOptions{
		IfNotExist: flightsql.TableDefinitionOptionsTableNotExistOptionCreate, IfExists: flightsql.TableDefinitionOptionsTableExistsOptionAppend,
	}})
	refused(t, err)
}

func TestTransactionsHaveNothingToDo(t *testing.T) {
	ctx, client := connect(t)
	for _, commit := range []bool{true, false} {
		tx, err := client.BeginTransaction(ctx)
		require.NoError(t, err)
		info, err := tx.Execute(ctx, "SELECT count(*) AS n FROM events")
		_, first, err := fetch(ctx, client, info, err)
		require.NoError(t, err)
		require.Equal(t, "1000000", first)
		if commit {
			require.NoError(t, tx.Commit(ctx))
		} else {
			require.NoError(t, tx.Rollback(ctx))
		}
	}
}
