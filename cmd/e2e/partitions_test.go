package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
)

// partitioned is a federation whose results can be divided: t(v, k) over three
// scanners, one of which yields rows only, read through two coordinators.
type partitioned struct {
	sources []*memsource.Source
	addrs   [2]string
}

func newPartitioned(t *testing.T) *partitioned {
	t.Helper()
	p := &partitioned{}
	var scanners []string
	for i := range 3 {
		src := numberedSource(t, i, 3)
		n := node{name: fmt.Sprintf("s%d", i), tables: []scanner.Table{{Name: "t", Source: src}}}
		if i == 1 {
			n.disable = []string{"all"}
		}
		p.sources = append(p.sources, src)
		scanners = append(scanners, startScanner(t, n, memory.DefaultAllocator))
	}
	for i := range p.addrs {
		_, p.addrs[i] = coordinate(t, scanners, server.Config{Key: []byte(sharedKey)})
	}
	return p
}

// union reads every endpoint on a connection of its own, all at once.
func (p *partitioned) union(t *testing.T, info *flight.FlightInfo) (*result, error) {
	t.Helper()
	parts, errs := make([]*result, len(info.Endpoint)), make([]error, len(info.Endpoint))
	var all sync.WaitGroup
	for i, e := range info.Endpoint {
		client := connect(t, p.addrs[i%len(p.addrs)])
		all.Go(func() {
			one := &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{e}}
			parts[i], errs[i] = fetchInfo(t.Context(), client, one)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	promised, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	require.NoError(t, err)
	out := &result{schema: promised}
	for _, part := range parts {
		require.True(t, promised.Equal(part.schema), "%s\n%s", promised, part.schema)
		out.batches = append(out.batches, part.batches...)
	}
	return out, nil
}

// sortedText is the rows of a result in an order of their own.
func sortedText(t *testing.T, d *duck, r *result) []string {
	var lines []string
	for _, row := range d.text(t, r) {
		var cells []string
		for _, c := range row {
			if c == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, *c)
			}
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	slices.Sort(lines)
	return lines
}

func setting(t *testing.T, client *flightsql.Client, name, value string) {
	t.Helper()
	_, err := client.ExecuteUpdate(t.Context(), fmt.Sprintf("SET %s = '%s'", name, value))
	require.NoError(t, err)
}

// TestPartitionedResults: the parts are disjoint, their union is the whole, and
// every way to ask for them works.
func TestPartitionedResults(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	p := newPartitioned(t)
	whole, parted := connect(t, p.addrs[0]), connect(t, p.addrs[0])
	setting(t, parted, "partitioned_results", "on")
	for sql, rows := range map[string]int{
		"SELECT * FROM t": 15000, "SELECT k, v FROM t WHERE v % 2 = 0 AND k > 3": 3215, "SELECT v * 2 AS d, 'x' || k AS x, k::UTINYINT AS u FROM t WHERE v < 9000": 8999,
		"SELECT v FROM t WHERE v < 0": 0, "SELECT v FROM t WHERE v = 12345": 1, "SELECT unnest([v, -v]) AS u FROM t WHERE k = 0": 4284,
	} {
		for _, level := range rungs {
			setting(t, whole, "pushdown", level)
			setting(t, parted, "pushdown", level)
			want, err := fetch(t.Context(), whole, sql)
			require.NoError(t, err, sql)
			require.EqualValues(t, rows, want.rows(), sql)
			info, err := parted.Execute(t.Context(), sql)
			require.NoError(t, err, sql)
			require.Len(t, info.Endpoint, 3, "%s %s", level, sql)
			got, err := p.union(t, info)
			require.NoError(t, err, "%s %s", level, sql)
			require.Equal(t, sortedText(t, d, want), sortedText(t, d, got), "%s %s", level, sql)
			want.release()
			got.release()
		}
	}
	for _, sql := range []string{"SELECT count(*) FROM t", "SELECT v FROM t LIMIT 5", "SELECT v FROM t ORDER BY v", "SHOW TABLES", "EXPLAIN SELECT v FROM t", "SHOW partitioned_results"} {
		info, err := parted.Execute(t.Context(), sql)
		require.NoError(t, err, sql)
		require.Len(t, info.Endpoint, 1, sql)
	}
	got, err := fetch(t.Context(), parted, "EXPLAIN SELECT v FROM t")
	require.NoError(t, err)
	require.Contains(t, strings.Join(sortedText(t, d, got), "\n"), "scanner s2: 2")
	got.release()
	got, err = fetch(t.Context(), parted, "EXPLAIN SELECT count(*) FROM t")
	require.NoError(t, err)
	require.Contains(t, strings.Join(sortedText(t, d, got), "\n"), "endpoints: 1 (the result is not divided")
	got.release()
}

// TestAskingForPartitions by a header, a session option, and for a prepared
// statement with parameters.
func TestAskingForPartitions(t *testing.T) {
	t.Parallel()
	p := newPartitioned(t)
	client := connect(t, p.addrs[0])
	endpoints := func(ctx context.Context) int {
		info, err := client.Execute(ctx, "SELECT v FROM t")
		require.NoError(t, err)
		return len(info.Endpoint)
	}
	require.Equal(t, 1, endpoints(t.Context()), "some clients read only the first")
	header := metadata.AppendToOutgoingContext(t.Context(), "x-tributary-partitioned-results", "partition")
	require.Equal(t, 3, endpoints(header))
	_, err := client.Execute(metadata.AppendToOutgoingContext(t.Context(), "x-tributary-partitioned-results", "many"), "SELECT v FROM t")
	require.Equal(t, codes.InvalidArgument, grpcstatus.Code(err), "%v", err)
	_, err = client.Execute(metadata.AppendToOutgoingContext(t.Context(), "x-tributary-nothing", "1"), "SELECT v FROM t")
	require.ErrorContains(t, err, `header x-tributary-nothing: there is no setting "nothing"`)

	option, err := flight.NewSessionOptionValue(true)
	require.NoError(t, err)
	set, err := client.SetSessionOptions(t.Context(), &flight.SetSessionOptionsRequest{SessionOptions: map[string]*flight.SessionOptionValue{"partitioned_results": &option}})
	require.NoError(t, err)
	require.Empty(t, set.Errors)
	require.Equal(t, 3, endpoints(t.Context()))

	prepared, err := client.Prepare(t.Context(), "SELECT v FROM t WHERE v BETWEEN ? AND ?")
	require.NoError(t, err)
	prepared.SetParameters(int64Row(t, 4000, 6999))
	info, err := prepared.Execute(t.Context())
	require.NoError(t, err)
	require.Len(t, info.Endpoint, 3)
	got, err := p.union(t, info)
	require.NoError(t, err)
	require.EqualValues(t, 3000, got.rows())
	got.release()
}

// TestPartsOfOneVersion: a table that changes after the statement was planned
// fails the parts that changed, and nobody gets rows of two versions.
func TestPartsOfOneVersion(t *testing.T) {
	t.Parallel()
	p := newPartitioned(t)
	client := connect(t, p.addrs[0])
	setting(t, client, "partitioned_results", "on")
	for _, sql := range []string{"SELECT v FROM t", "SELECT v + 1 FROM t WHERE k > 0"} {
		info, err := client.Execute(t.Context(), sql)
		require.NoError(t, err)
		require.NoError(t, p.sources[1].Put(memsource.Partition{ID: "1"}))
		for i, e := range info.Endpoint {
			got, err := fetchInfo(t.Context(), connect(t, p.addrs[1]), &flight.FlightInfo{Endpoint: []*flight.FlightEndpoint{e}})
			if i == 1 {
				require.Equal(t, codes.Unavailable, grpcstatus.Code(err), "%v", err)
				require.ErrorContains(t, err, "has changed since the query was planned")
				continue
			}
			require.NoError(t, err)
			got.release()
		}
	}
}
