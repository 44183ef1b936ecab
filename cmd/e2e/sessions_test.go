package e2e

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
)

// connectWith opens a client with a cookie jar.
func connectWith(t *testing.T, addr string, jar flight.CookieMiddleware) *flightsql.Client {
	t.Helper()
	client, err := flightsql.NewClient(addr, nil, []flight.ClientMiddleware{flight.CreateClientMiddleware(jar)}, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// show is the present value of a setting.
func showSetting(t *testing.T, d *duck, client *flightsql.Client, name string) string {
	t.Helper()
	got, err := fetch(t.Context(), client, "SHOW "+name)
	require.NoError(t, err)
	defer got.release()
	return one(t, d, got)
}

// TestSessions belong to a connection; a client that keeps cookies carries its
// own to other connections and other coordinators.
func TestSessions(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	addrs := numberedScanners(t, 1)
	_, one := coordinate(t, addrs, server.Config{Key: []byte(sharedKey)})
	_, two := coordinate(t, addrs, server.Config{Key: []byte(sharedKey)})

	plain := connect(t, one)
	setting(t, plain, "pushdown", "off")
	require.Equal(t, "off", showSetting(t, d, plain, "pushdown"))
	require.Equal(t, "full", showSetting(t, d, connect(t, one), "pushdown"), "another connection")

	jar := flight.NewCookieMiddleware()
	here, elsewhere := connectWith(t, one, jar), connectWith(t, two, jar)
	require.Equal(t, "full", showSetting(t, d, elsewhere, "pushdown"))
	setting(t, here, "pushdown", "filter")
	require.Equal(t, "filter", showSetting(t, d, here, "pushdown"))
	require.Equal(t, "filter", showSetting(t, d, elsewhere, "pushdown"))
	option, err := flight.NewSessionOptionValue(int64(70000))
	require.NoError(t, err)
	wrong, err := flight.NewSessionOptionValue("wrong")
	require.NoError(t, err)
	set, err := elsewhere.SetSessionOptions(t.Context(), &flight.SetSessionOptionsRequest{SessionOptions: map[string]*flight.SessionOptionValue{
		"batch_bytes": &option, "nothing": &wrong, "result_types": &wrong, "schema": &wrong,
	}})
	require.NoError(t, err)
	require.Len(t, set.Errors, 3)
	require.Equal(t, flight.SetSessionOptionsResultErrorInvalidName, set.Errors["nothing"].Value)
	require.Equal(t, flight.SetSessionOptionsResultErrorInvalidValue, set.Errors["result_types"].Value)
	require.Equal(t, "70000", showSetting(t, d, here, "batch_bytes"))
	have, err := here.GetSessionOptions(t.Context(), &flight.GetSessionOptionsRequest{})
	require.NoError(t, err)
	require.Equal(t, "filter", have.SessionOptions["pushdown"].GetStringValue())
	require.Equal(t, "tributary", have.SessionOptions["catalog"].GetStringValue())
	require.Equal(t, "main", have.SessionOptions["schema"].GetStringValue())

	closed, err := elsewhere.CloseSession(t.Context(), &flight.CloseSessionRequest{})
	require.NoError(t, err)
	require.Equal(t, flight.CloseSessionResultClosed, closed.Status)
	for _, client := range []*flightsql.Client{elsewhere, connectWith(t, two, jar)} {
		require.Equal(t, "full", showSetting(t, d, client, "pushdown"))
	}
}

// TestSessionExpires: the client learns it once, and the next statement runs.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	_, addr := coordinate(t, numberedScanners(t, 1), server.Config{SessionIdle: time.Second})
	client := connectWith(t, addr, flight.NewCookieMiddleware())
	_, err := client.Execute(t.Context(), "SET pushdown = 'off'")
	require.NoError(t, err)
	time.Sleep(2100 * time.Millisecond)
	_, err = client.Execute(t.Context(), "SHOW pushdown")
	require.Equal(t, codes.InvalidArgument, grpcstatus.Code(err), "%v", err)
	require.ErrorContains(t, err, "has expired")
	require.NotEmpty(t, showSetting(t, d, client, "pushdown"))

	forged := metadata.AppendToOutgoingContext(t.Context(), "cookie", "a=b; arrow_flight_session_id=forged")
	_, err = connect(t, addr).Execute(forged, "SHOW pushdown")
	require.ErrorContains(t, err, "not this server's")
	other := metadata.AppendToOutgoingContext(t.Context(), "cookie", "a=b")
	_, err = connect(t, addr).Execute(other, "SHOW pushdown")
	require.NoError(t, err, "cookies of a proxy are none of ours")
}

// TestRefusals name what there is instead.
func TestRefusals(t *testing.T) {
	t.Parallel()
	_, addr := coordinate(t, numberedScanners(t, 1), server.Config{})
	client := connect(t, addr)
	ctx := t.Context()
	for _, sql := range []string{"INSERT INTO t VALUES (1, 1)", "UPDATE t SET v = 1", "DELETE FROM t", "CREATE TABLE x (a INT)", "DROP TABLE t", "COPY t TO 'x'", "TRUNCATE t", "ALTER TABLE t ADD COLUMN x INT"} {
		_, err := client.Execute(ctx, sql)
		require.Equal(t, codes.Unimplemented, grpcstatus.Code(err), "%s: %v", sql, err)
		require.ErrorContains(t, err, "takes SELECT", sql)
		_, err = client.ExecuteUpdate(ctx, sql)
		require.Equal(t, codes.Unimplemented, grpcstatus.Code(err), "%s: %v", sql, err)
		_, err = client.Prepare(ctx, sql)
		require.Equal(t, codes.Unimplemented, grpcstatus.Code(err), "%s: %v", sql, err)
	}
	plan := flightsql.SubstraitPlan{Plan: []byte{1, 2}}
	for name, call := range map[string]func() error{
		"Substrait":            func() error { _, err := client.ExecuteSubstrait(ctx, plan); return err },
		"Substrait update":     func() error { _, err := client.ExecuteSubstraitUpdate(ctx, plan); return err },
		"Substrait schema":     func() error { _, err := client.GetExecuteSubstraitSchema(ctx, plan); return err },
		"prepared Substrait":   func() error { _, err := client.PrepareSubstrait(ctx, plan); return err },
		"a savepoint in a txn": func() error { return savepoint(t, client) },
		"bulk ingest":          func() error { return ingest(t, client) },
	} {
		err := call()
		require.Equal(t, codes.Unimplemented, grpcstatus.Code(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "not supported: ", name)
	}
	_, err := client.ExecuteUpdate(ctx, "SELECT 1")
	require.ErrorContains(t, err, "execute it as a query")
}

func savepoint(t *testing.T, client *flightsql.Client) error {
	tx, err := client.BeginTransaction(t.Context())
	require.NoError(t, err)
	got, err := tx.Execute(t.Context(), "SELECT count(*) FROM t")
	require.NoError(t, err)
	require.Len(t, got.Endpoint, 1)
	_, err = tx.BeginSavepoint(t.Context(), "s")
	require.NoError(t, tx.Commit(t.Context()))
	return err
}

func ingest(t *testing.T, client *flightsql.Client) error {
	t.Helper()
	rows := numbered(t, 1, 10)
	defer rows.Release()
	reader, err := array.NewRecordReader(rows.Schema(), []arrow.RecordBatch{rows})
	require.NoError(t, err)
	defer reader.Release()
	_, err = client.ExecuteIngest(t.Context(), reader, &flightsql.ExecuteIngestOpts{
		Table:                  "t",
		TableDefinitionOptions: &flightsql.TableDefinitionOptions{IfNotExist: flightsql.TableDefinitionOptionsTableNotExistOptionCreate, IfExists: flightsql.TableDefinitionOptionsTableExistsOptionAppend},
	})
	return err
}

// TestListActions: every action that is listed is carried out.
func TestListActions(t *testing.T) {
	t.Parallel()
	_, addr := coordinate(t, numberedScanners(t, 1), server.Config{})
	client := connect(t, addr)
	list, err := client.Client.ListActions(t.Context(), &flight.Empty{})
	require.NoError(t, err)
	var names []string
	for {
		action, err := list.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.NotEmpty(t, action.GetDescription())
		names = append(names, action.GetType())
		stream, err := client.Client.DoAction(t.Context(), &flight.Action{Type: action.GetType()})
		require.NoError(t, err)
		_, err = stream.Recv()
		require.NotEqual(t, codes.Unimplemented, grpcstatus.Code(err), "%s: %v", action.GetType(), err)
	}
	require.True(t, slices.Contains(names, "CloseSession") && slices.Contains(names, "RenewFlightEndpoint") && !slices.Contains(names, "BeginSavepoint"), "%v", names)
}

// TestPollFlightInfo: the first answer is the last, and its rows can be fetched.
func TestPollFlightInfo(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	_, addr := coordinate(t, numberedScanners(t, 1), server.Config{})
	client := connect(t, addr)
	poll, err := client.ExecutePoll(t.Context(), "SELECT count(*) FROM t", nil)
	require.NoError(t, err)
	require.Nil(t, poll.GetFlightDescriptor())
	require.InDelta(t, 1, poll.GetProgress(), 0)
	require.True(t, poll.GetExpirationTime().AsTime().After(time.Now()))
	got, err := fetchInfo(t.Context(), client, poll.GetInfo())
	require.NoError(t, err)
	require.Equal(t, "15000", one(t, d, got))
	got.release()
	outcome, err := client.CancelFlightInfo(t.Context(), &flight.CancelFlightInfoRequest{Info: poll.GetInfo()})
	require.NoError(t, err)
	require.Equal(t, flight.CancelStatusCancelled, outcome.Status)
	_, err = fetchInfo(t.Context(), client, poll.GetInfo())
	require.Equal(t, codes.Canceled, grpcstatus.Code(err), "%v", err)
	prepared, err := client.Prepare(t.Context(), "SELECT v FROM t WHERE v = ?")
	require.NoError(t, err)
	prepared.SetParameters(int64Row(t, 5))
	poll, err = prepared.ExecutePoll(t.Context(), nil)
	require.NoError(t, err)
	got, err = fetchInfo(t.Context(), client, poll.GetInfo())
	require.NoError(t, err)
	require.Equal(t, "5", one(t, d, got))
	got.release()
	_, err = client.ExecutePoll(t.Context(), "SELECT nothing FROM t", nil)
	require.Equal(t, codes.InvalidArgument, grpcstatus.Code(err), "%v", err)
	_, err = client.Client.PollFlightInfo(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"t"}})
	require.Equal(t, codes.InvalidArgument, grpcstatus.Code(err), "%v", err)
}

// TestDeadlineOfTheCall ends a query with the code that clients expect.
func TestDeadlineOfTheCall(t *testing.T) {
	t.Parallel()
	stuck := &faulty{Source: numberedSource(t, 0, 1)}
	stuck.broken.Store(&fault{delay: time.Hour})
	_, addr := coordinate(t, []string{startScanner(t, node{name: "s", tables: []scanner.Table{{Name: "t", Source: stuck}}}, memory.DefaultAllocator)}, server.Config{})
	client := connect(t, addr)
	for _, sql := range []string{"SELECT * FROM t", "SELECT sum(v) FROM t"} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := fetch(ctx, client, sql)
		require.Equal(t, codes.DeadlineExceeded, grpcstatus.Code(err), "%v", err)
	}
}
