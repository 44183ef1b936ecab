package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

const buckets = 4

// bucketed is a table whose service divides its rows by customer into buckets,
// two on each of two scanners. Customers without a number are anywhere.
type bucketed struct {
	hash        partition.Hash
	sources     [2]*memsource.Source
	coordinator *server.Coordinator
}

func newBucketed(t *testing.T, d *duck, disabled ...[]string) *bucketed {
	t.Helper()
	b := &bucketed{hash: partition.Hash{Columns: []string{"customer"}, Of: buckets}}
	nodes := make([]node, 2)
	for i := range nodes {
		schema := d.rows(t, bucketRows("false")).schema
		src, err := memsource.New(schema, nil)
		require.NoError(t, err)
		b.sources[i] = src
		nodes[i] = node{name: fmt.Sprintf("s%d", i), disable: disabled[i], tables: []scanner.Table{{Name: "sales", Source: src}}}
	}
	for i := range buckets {
		b.put(t, d, i, i)
	}
	b.coordinator = startCluster(t, nodes, memory.DefaultAllocator)
	return b
}

func bucketRows(where string) string {
	return "SELECT CASE WHEN i % 10 > 0 THEN i % 97 END AS customer, 'item ' || (i % 5) AS item, i AS amount FROM range(2000) r(i) WHERE " + where
}

// put fills partition i with the rows of a bucket.
func (b *bucketed) put(t *testing.T, d *duck, i, bucket int) {
	t.Helper()
	where := fmt.Sprintf("i %% 10 = 0 AND i // 10 %% %d = %d", buckets, bucket)
	for c := range 97 {
		if at, _ := b.hash.Bucket(scalar.NewInt64Scalar(int64(c))); at == bucket {
			where += fmt.Sprintf(" OR i %% 10 > 0 AND i %% 97 = %d", c)
		}
	}
	rows := d.rows(t, bucketRows(where))
	defer rows.release()
	require.NoError(t, b.sources[i%2].Put(memsource.Partition{ID: strconv.Itoa(i), Batches: rows.batches,
		Promise: partition.Promise{Buckets: &partition.Buckets{Hash: b.hash, Holds: []int{bucket}}}}))
}

// TestBuckets: equality reads one bucket, and groups by customer are whole.
func TestBuckets(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	off := query.DefaultSettings()
	off.Pushdown = plan.PushdownOff
	for name, disabled := range map[string][][]string{"all do all": {nil, nil}, "rows only": {{"all"}, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBucketed(t, d, disabled...)
			for sql, explained := range map[string]string{
				"SELECT count(*), sum(amount) FROM sales WHERE customer = 17":                                                         "(3 pruned by the partition function of customer)",
				"SELECT amount FROM sales WHERE customer IN (17) AND amount > 5 ORDER BY 1":                                           "(3 pruned by the partition function of customer)",
				"SELECT customer, count(*) AS n FROM sales GROUP BY customer HAVING count(*) > 20 ORDER BY ALL":                       "groups are whole: by its partition function hash(customer, 4) no value of customer is on two scanners",
				"SELECT customer, sum(amount) AS s FROM sales GROUP BY customer ORDER BY s DESC, 1 LIMIT 4":                           "groups in which k0 is NULL are merged apart",
				"SELECT item, customer, sum(amount) AS s FROM sales GROUP BY ALL ORDER BY s DESC, 1, 2 LIMIT 5 OFFSET 2":              "groups are whole: by its partition function",
				"SELECT customer, count(*) AS n FROM sales WHERE customer IN (1, 2, 3, 44) GROUP BY 1 HAVING count(*) > 1 ORDER BY 1": "by its partition function",
				"SELECT count(*) FROM (SELECT DISTINCT customer, item FROM sales)":                                                    "partial aggregate",
				"SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 1 ORDER BY 1":                                  "not pushed: groups are not reduced",
				"SELECT count(*) FROM sales WHERE customer IS NULL":                                                                   "scanner s0",
			} {
				want := answer(t, d, b.coordinator, off, sql)
				require.NotEmpty(t, want)
				require.Equal(t, want, answer(t, d, b.coordinator, query.DefaultSettings(), sql), sql)
				require.Contains(t, answer(t, d, b.coordinator, query.DefaultSettings(), "EXPLAIN "+sql), explained, sql)
			}
		})
	}
}

// TestBucketsThatMove: a plan made for other promises is made again.
func TestBucketsThatMove(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	b := newBucketed(t, d, nil, nil)
	set := query.DefaultSettings()
	sql := "SELECT count(*) FROM sales WHERE customer = 17"
	want := answer(t, d, b.coordinator, set, sql)
	for i := range buckets { // partition i has bucket i + 1 now
		b.put(t, d, i, (i+1)%buckets)
	}
	require.Equal(t, want, answer(t, d, b.coordinator, set, sql))
	require.Contains(t, answer(t, d, b.coordinator, set, "EXPLAIN "+sql), "3 pruned by the partition function of customer")
}

// TestPromisesOutliveRows: rows that come later need no new plan, and rows that
// break the promise are refused where they are put.
func TestPromisesOutliveRows(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	b := newBucketed(t, d, nil, nil)
	rows := d.rows(t, bucketRows("i < 50"))
	defer rows.release()
	err := b.sources[0].Put(memsource.Partition{ID: "0", Batches: rows.batches,
		Promise: partition.Promise{Buckets: &partition.Buckets{Hash: b.hash, Holds: []int{0}}}})
	require.ErrorContains(t, err, `partition "0": row`)
	require.ErrorContains(t, err, "which its owner promised not to be in the partition")
	err = b.sources[0].Put(memsource.Partition{ID: "0", Batches: rows.batches,
		Promise: partition.Promise{Values: map[string][]scalar.Scalar{"item": {scalar.NewStringScalar("item 1")}}}})
	require.ErrorContains(t, err, `column "item" has the value item 0`)
}

// liar promises what its own statistics disprove.
type liar struct{ *memsource.Source }

func (l liar) Partitions(ctx context.Context) ([]scanner.Partition, error) {
	parts, err := l.Source.Partitions(ctx)
	for i := range parts {
		parts[i].Promise.Values = map[string][]scalar.Scalar{"amount": {scalar.NewInt64Scalar(-1)}}
	}
	return parts, err
}

func TestLiesAreFound(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	rows := d.rows(t, bucketRows("i < 50"))
	src, err := memsource.New(rows.schema, []memsource.Partition{{ID: "7", Batches: rows.batches}})
	require.NoError(t, err)
	rows.release()
	c := startCluster(t, []node{{name: "s0", tables: []scanner.Table{{Name: "sales", Source: liar{src}}}}}, memory.DefaultAllocator)
	_, err = run(c, query.DefaultSettings(), "SELECT count(*) FROM sales WHERE amount = 3")
	require.ErrorContains(t, err, `table main.sales`)
	require.ErrorContains(t, err, `partition "7": column "amount" has the value 0, which its owner promised not to be in the partition`)
}

// TestHivePartitions: directories by region and day on two scanners, without the
// columns in the files, read by filter, group and plainly.
func TestHivePartitions(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	nodes := make([]node, 2)
	for i := range nodes {
		dir := t.TempDir()
		for k, region := range []string{"eu", "us%2Fca", "__HIVE_DEFAULT_PARTITION__"} {
			for day := 1 + i; day <= 4; day += 2 {
				path := filepath.Join(dir, "region="+region, fmt.Sprintf("day=2024-05-%02d", day))
				require.NoError(t, os.MkdirAll(path, 0o755))
				rows := fmt.Sprintf("SELECT i + %d AS id FROM range(%d) r(i)", 1000*k+100*day, 10+day)
				execFile(t, "", "COPY ("+rows+") TO '"+path+"/rows"+[]string{".parquet", ".csv"}[k%2]+"'")
			}
		}
		eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: t.TempDir(), Threads: 1, Warm: 1})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, eng.Close()) })
		src, err := fileSource.FromGlob(eng, filepath.Join(dir, "*", "*", "*"))
		require.NoError(t, err)
		nodes[i] = node{name: fmt.Sprintf("s%d", i), tables: []scanner.Table{{Name: "visits", Source: src}}}
	}
	c := startCluster(t, nodes, memory.DefaultAllocator)
	off := query.DefaultSettings()
	off.Pushdown = plan.PushdownOff
	require.Equal(t, "2024-05-01 eu 11\n2024-05-01 us/ca 11\n2024-05-01 NULL 11\n2024-05-02 eu 12\n2024-05-02 us/ca 12\n2024-05-02 NULL 12\n"+
		"2024-05-03 eu 13\n2024-05-03 us/ca 13\n2024-05-03 NULL 13\n2024-05-04 eu 14\n2024-05-04 us/ca 14\n2024-05-04 NULL 14",
		answer(t, d, c, off, "SELECT day, region, count(*) FROM visits GROUP BY ALL ORDER BY ALL"))
	for sql, explained := range map[string]string{
		"SELECT count(*), min(id), max(id) FROM visits WHERE region = 'us/ca'":                                     "4 of 12 (8 pruned by the partition function of region)",
		"SELECT sum(id) FROM visits WHERE region IS NULL AND day >= DATE '2024-05-03'":                             "2 of 12 (10 pruned by the partition function of day, the partition function of region)",
		"SELECT id, day FROM visits WHERE day = DATE '2024-05-02' ORDER BY id":                                     "3 of 12 (9 pruned by the partition function of day)",
		"SELECT id FROM visits WHERE region LIKE 'eu%' ORDER BY id":                                                "4 of 12 (8 pruned by the partition function of region)",
		"SELECT day, count(*) AS n, max(id) FROM visits GROUP BY day HAVING count(*) > 36 ORDER BY n DESC LIMIT 3": "groups are whole: by its partition function no value of day is on two scanners",
		"SELECT region, day, sum(id) AS s FROM visits GROUP BY ALL ORDER BY s DESC LIMIT 3":                        "groups are whole: by its partition function no combination of day, region is on two scanners",
		"SELECT region, count(*) AS n FROM visits GROUP BY region HAVING count(*) > 1 ORDER BY region":             "not pushed: groups are not reduced",
	} {
		want := answer(t, d, c, off, sql)
		require.NotEmpty(t, want, sql)
		require.Equal(t, want, answer(t, d, c, query.DefaultSettings(), sql), sql)
		require.Contains(t, answer(t, d, c, query.DefaultSettings(), "EXPLAIN "+sql), explained, sql)
	}
}

// TestBucketsInParts: a client that reads in parts gets whole groups from each
// scanner by what owners promise, where no NULL passes.
func TestBucketsInParts(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	b := newBucketed(t, d, nil, nil)
	p := &partitioned{sources: b.sources[:]}
	var scanners []string
	for i, src := range b.sources {
		scanners = append(scanners, startScanner(t, node{name: fmt.Sprintf("s%d", i), tables: []scanner.Table{{Name: "sales", Source: src}}}, memory.DefaultAllocator))
	}
	for i := range p.addrs {
		_, p.addrs[i] = coordinate(t, scanners, server.Config{Key: []byte(sharedKey)})
	}
	whole, parted := connect(t, p.addrs[0]), connect(t, p.addrs[0])
	setting(t, parted, "partitioned_results", "scanner")
	for sql, endpoints := range map[string]int{
		"SELECT customer, count(*) AS n, sum(amount) AS s FROM sales WHERE customer IS NOT NULL GROUP BY customer": 2,
		"SELECT customer, item, max(amount) FROM sales WHERE customer > 40 GROUP BY ALL HAVING count(*) > 2":       2,
		"SELECT DISTINCT customer FROM sales WHERE customer < 50":                                                  2,
		"SELECT customer, count(*) FROM sales GROUP BY customer":                                                   1,
		"SELECT item, count(*) FROM sales WHERE customer > 1 GROUP BY item":                                        1,
	} {
		want, err := fetch(t.Context(), whole, sql)
		require.NoError(t, err, sql)
		info, err := parted.Execute(t.Context(), sql)
		require.NoError(t, err, sql)
		require.Len(t, info.Endpoint, endpoints, sql)
		got, err := p.union(t, info)
		require.NoError(t, err, sql)
		require.Equal(t, sortedText(t, d, want), sortedText(t, d, got), sql)
		want.release()
		got.release()
	}
	info, err := parted.Execute(t.Context(), "SELECT customer, count(*) FROM sales WHERE customer > 1 GROUP BY customer")
	require.NoError(t, err)
	b.put(t, d, 0, 0) // the same promise, but another version of the rows
	_, err = p.union(t, info)
	require.ErrorContains(t, err, "has changed since the query was planned")
}
