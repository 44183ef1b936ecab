package scanner_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
)

func secretOf(t *testing.T, text string) *secure.Secret {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := secure.NewSecret(path, nil)
	require.NoError(t, err)
	return s
}

// advertised is a scanner that refuses strangers but for tickets.
type advertised struct {
	*running
	secret *secure.Secret
	source *memsource.Source
}

func startAdvertised(t *testing.T, mem memory.Allocator) *advertised {
	t.Helper()
	a := &advertised{secret: secretOf(t, "shared by the two nodes"), source: memTable(t, mem, 250, 0, 7)}
	cfg := table(a.source)
	cfg.Name, cfg.Alloc, cfg.Advertise, cfg.Tickets = "s1", mem, "grpc://scanner:1", a.secret
	s, err := scanner.New(cfg)
	require.NoError(t, err)
	lis := bufconn.Listen(1 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis, a.secret.Guard(s.Open()...)...) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, s.Close())
	})
	a.running = &running{Scanner: s, t: t, mem: mem, dial: func() []grpc.DialOption {
		return []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) })}
	}}
	return a
}

// read is a read of the rows with id < 255, in other columns and types than the
// table's.
func (a *advertised) read() *codec.DirectRead {
	hello, err := a.Hello(a.t.Context())
	require.NoError(a.t, err)
	spec := rowsSpec("0", "2")
	spec.Filter = []pushdown.Expr{below(255)}
	return &codec.DirectRead{
		User: "ann", Scanner: "s1", Epoch: a.Epoch(), Spec: spec, TableVersion: hello.Tables[0].Version, SchemaVersion: hello.Tables[0].SchemaVersion,
		Columns: []int{1, 0, 0}, Schema: arrow.NewSchema([]arrow.Field{
			{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"k": "v"})},
			{Name: "n", Type: &arrow.Decimal128Type{Precision: 20}, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		}, nil),
	}
}

func (a *advertised) ticket(d *codec.DirectRead, until time.Time, secret *secure.Secret) string {
	body, err := codec.EncodeDirect(d)
	require.NoError(a.t, err)
	ticket, err := codec.AppendDirect([]byte{}, body, until, secret)
	require.NoError(a.t, err)
	return string(ticket)
}

func TestDirectRead(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	a := startAdvertised(t, mem)
	d := a.read()
	got, rows, err := a.get(a.ticket(d, time.Now().Add(time.Minute), a.secret))
	require.NoError(t, err)
	require.True(t, d.Schema.Equal(got), "%s", got)
	require.Len(t, rows, 255)
	require.Contains(t, texts(rows), "odd | 1 | 1")
	d.Spec.Partitions, d.Spec.Filter = []string{"1"}, nil
	got, rows, err = a.get(a.ticket(d, time.Now().Add(time.Minute), a.secret))
	require.NoError(t, err)
	require.True(t, d.Schema.Equal(got), "also without rows")
	require.Empty(t, rows)
	eventually(t, func() bool { return a.OpenScans() == 0 })
}

func TestDirectReadsThatAreRefused(t *testing.T) {
	t.Parallel()
	a := startAdvertised(t, checked(t))
	soon := time.Now().Add(time.Minute)
	good := a.ticket(a.read(), soon, a.secret)
	for at := 3; at < len(good); at += 5 {
		bad := []byte(good)
		bad[at] ^= 1
		_, _, err := a.get(string(bad))
		require.Equal(t, status.Unauthenticated, status.CodeOf(err), "byte %d: %v", at, err)
	}
	changed := func(change func(*codec.DirectRead)) string {
		d := a.read()
		change(d)
		return a.ticket(d, soon, a.secret)
	}
	for name, c := range map[string]struct {
		ticket string
		code   status.Code
	}{
		"another secret":    {a.ticket(a.read(), soon, secretOf(t, "a secret of others")), status.Unauthenticated},
		"expired":           {a.ticket(a.read(), time.Now(), a.secret), status.NotFound},
		"before a restart":  {changed(func(d *codec.DirectRead) { d.Epoch = "before" }), status.Aborted},
		"another scanner":   {changed(func(d *codec.DirectRead) { d.Scanner = "s2" }), status.InvalidArgument},
		"another version":   {changed(func(d *codec.DirectRead) { d.TableVersion = "older" }), status.Aborted},
		"no version":        {changed(func(d *codec.DirectRead) { d.TableVersion = "" }), status.InvalidArgument},
		"another schema":    {changed(func(d *codec.DirectRead) { d.SchemaVersion = "older" }), status.Aborted},
		"groups":            {changed(func(d *codec.DirectRead) { d.Spec = countSpec("0") }), status.InvalidArgument},
		"a missing column":  {changed(func(d *codec.DirectRead) { d.Columns[0] = 2 }), status.InvalidArgument},
		"an unknown table":  {changed(func(d *codec.DirectRead) { d.Spec.Table = "main.other" }), status.NotFound},
		"the table by name": {"t", status.Unauthenticated},
		"nothing":           {"", status.Unauthenticated},
	} {
		_, rows, err := a.get(c.ticket)
		require.Equal(t, c.code, status.CodeOf(err), "%s: %v", name, err)
		require.Empty(t, rows, name)
	}
	b := numbers(a.mem, 1000, 5)
	defer b.Release()
	require.NoError(t, a.source.Put(memsource.Partition{ID: "1", Batches: []arrow.RecordBatch{b}}))
	_, _, err := a.get(good)
	require.Equal(t, status.Aborted, status.CodeOf(err), "the table has changed: %v", err)
}

// TestStrangersMayOnlyReadTickets: nothing else is open to them.
func TestStrangersMayOnlyReadTickets(t *testing.T) {
	t.Parallel()
	a := startAdvertised(t, checked(t))
	c := a.flightClient()
	refused := map[string]error{}
	_, refused["GetFlightInfo"] = c.GetFlightInfo(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"t"}})
	list, err := c.ListFlights(t.Context(), &flight.Criteria{})
	require.NoError(t, err)
	_, refused["ListFlights"] = list.Recv()
	action, err := c.DoAction(t.Context(), &flight.Action{Type: codec.HelloAction})
	require.NoError(t, err)
	_, refused["Hello"] = action.Recv()
	exchange, err := c.DoExchange(t.Context())
	require.NoError(t, err)
	_, refused["DoExchange"] = exchange.Recv()
	for name, err := range refused {
		require.Equal(t, codes.Unauthenticated, grpcstatus.Code(err), "%s: %v", name, err)
	}
	ctx, err := c.AuthenticateBasicToken(t.Context(), "ann", "a password of a coordinator")
	require.NoError(t, err, "a client that was given a user")
	_, err = c.GetSchema(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"t"}})
	require.Equal(t, codes.Unauthenticated, grpcstatus.Code(err), "%v", err)
}

func TestAdvertise(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"scanner:1": "must be grpc://", "http://scanner:1": "must be grpc://", "grpc://scanner": "must be grpc://", "grpc://:1": "must be grpc://",
		"grpc+tls://scanner:1": "needs the secret",
	} {
		_, err := scanner.New(scanner.Config{Name: "s", Advertise: location})
		require.ErrorContains(t, err, want, location)
	}
	r := start(t, checked(t), scanner.Config{})
	_, _, err := r.get(string([]byte{0xba, 0x71, 1, 0}))
	require.Equal(t, status.Unauthenticated, status.CodeOf(err), "a ticket at a scanner that advertises nothing: %v", err)
	_, err = r.flightClient().AuthenticateBasicToken(t.Context(), "ann", "p")
	require.Equal(t, codes.Unimplemented, grpcstatus.Code(err))
}
