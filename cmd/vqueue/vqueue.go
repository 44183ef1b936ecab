// Package vqueue generates the data of the demo and of the benchmarks: the
// meta table of a queue service, 6.4 million rows in 24 partitions of which one
// holds 5.5 million, because one tenant is that busy.
//
// The same seed gives the same rows on every machine.
package vqueue

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Table is the name of the table.
const Table = "vqueue_meta"

// Layout says how many rows go where.
type Layout struct {
	// Partitions is the number of partitions.
	Partitions int
	// Rows is the number of rows in all of them.
	Rows int
	// Hot is the number of rows in the one heavy partition.
	Hot int
	// Seed of the generator.
	Seed uint64
}

// Default is the layout of the case that started the project.
func Default() Layout { return Layout{Partitions: 24, Rows: 6_400_000, Hot: 5_500_000, Seed: 1} }

// hotPartition is the index of the heavy partition.
const hotPartition = 7

// RowsIn returns the number of rows in partition p.
func (l Layout) RowsIn(p int) int {
	hot := hotPartition % l.Partitions
	if p == hot {
		return l.Hot
	}
	if p > hot {
		p--
	}
	others, rest := l.Partitions-1, l.Rows-l.Hot
	n := rest / others
	if p < rest%others {
		n++
	}
	return n
}

// Schema is the Arrow schema of the table.
func Schema() *arrow.Schema {
	ts := &arrow.TimestampType{Unit: arrow.Millisecond}
	u64, i64 := arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64
	utf8, boolean := arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean
	fields := []arrow.Field{
		{Name: "partition_key", Type: u64}, {Name: "id", Type: utf8},
		{Name: "scope", Type: utf8, Nullable: true}, {Name: "service_name", Type: utf8}, {Name: "status", Type: utf8},
		{Name: "limit_key", Type: utf8, Nullable: true},
		{Name: "is_active", Type: boolean}, {Name: "queue_is_paused", Type: boolean},
		{Name: "created_at", Type: ts}, {Name: "last_enqueued_at", Type: ts}, {Name: "last_start_at", Type: ts, Nullable: true},
		{Name: "last_attempt_at", Type: ts, Nullable: true}, {Name: "last_finish_at", Type: ts, Nullable: true},
		{Name: "avg_queue_duration", Type: i64, Nullable: true}, {Name: "avg_run_duration", Type: i64, Nullable: true},
		{Name: "num_inbox", Type: u64}, {Name: "num_running", Type: u64}, {Name: "num_suspended", Type: u64},
		{Name: "num_paused", Type: u64}, {Name: "num_finished", Type: u64},
	}
	return arrow.NewSchema(fields, nil)
}

const batchRows = 64 << 10

// Batches calls yield with the batches of partition p in order; each is
// released after the call.
func (l Layout) Batches(p int, mem memory.Allocator, yield func(arrow.RecordBatch) error) error {
	g := newGenerator(l, p, mem)
	defer g.b.Release()
	for left := l.RowsIn(p); left > 0; left -= batchRows {
		for range min(left, batchRows) {
			g.row()
		}
		batch := g.b.NewRecordBatch()
		err := yield(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// FileName is the name of partition p's file.
func FileName(p int) string { return fmt.Sprintf("part-%02d.parquet", p) }

// Write writes one Parquet file a partition into dir, unless they are all
// there; it reports whether it wrote.
func (l Layout) Write(dir string) (bool, error) {
	done := filepath.Join(dir, fmt.Sprintf(".complete-%d-%d-%d-%d", l.Partitions, l.Rows, l.Hot, l.Seed))
	if _, err := os.Stat(done); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, status.Wrap(status.FailedPrecondition, err, "cannot create the data directory %s", dir)
	}
	var group errgroup.Group
	group.SetLimit(2)
	for p := range l.Partitions {
		group.Go(func() error { return l.writePartition(filepath.Join(dir, FileName(p)), p) })
	}
	if err := group.Wait(); err != nil {
		return false, err
	}
	return true, os.WriteFile(done, nil, 0o644)
}

func (l Layout) writePartition(path string, p int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return status.Wrap(status.FailedPrecondition, err, "cannot write %s", path)
	}
	w, err := pqarrow.NewFileWriter(Schema(), f, writerProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return status.Wrap(status.Internal, err, "cannot write %s", path)
	}
	defer func() {
		if closeErr := w.Close(); err == nil && closeErr != nil { // closes f too
			err = status.Wrap(status.FailedPrecondition, closeErr, "cannot finish %s", path)
		}
	}()
	return l.Batches(p, memory.DefaultAllocator, w.WriteBuffered)
}

// writerProperties makes files as a careful writer would: small pages, since a
// LIMIT decodes whole ones, and no dictionary where hardly a value repeats.
func writerProperties() *parquet.WriterProperties {
	opts := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithMaxRowGroupLength(2 * batchRows),
		parquet.WithDataPageSize(64 << 10),
	}
	for _, unique := range []string{
		"partition_key", "id", "created_at", "last_enqueued_at", "last_start_at", "last_attempt_at", "last_finish_at",
		"avg_queue_duration", "avg_run_duration",
	} {
		opts = append(opts, parquet.WithDictionaryFor(unique, false))
	}
	return parquet.NewWriterProperties(opts...)
}

type generator struct {
	b         *array.RecordBuilder
	rng       *rand.Rand
	partition int
	hot       bool
	scopes    []string
	zipf      *rand.Zipf
}

func newGenerator(l Layout, p int, mem memory.Allocator) *generator {
	rng := rand.New(rand.NewPCG(l.Seed, uint64(p)))
	g := &generator{b: array.NewRecordBuilder(mem, Schema()), rng: rng, partition: p, hot: p == hotPartition%l.Partitions}
	for i := range 12 {
		g.scopes = append(g.scopes, fmt.Sprintf("tenant-%02d-%02d", p, i))
	}
	g.scopes[11] = fmt.Sprintf("tenant.with_the-longest.legal-name%02d", p)
	g.zipf = rand.NewZipf(rng, 1.4, 1, uint64(len(g.scopes)-1))
	return g
}

var (
	statuses = [...]string{"finished", "running", "inbox", "suspended", "paused", "backing-off"}
	epoch    = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
)

const month = 30 * 24 * 60 * 60 * 1000

// status draws one of statuses: 95 % finished, and one row in 10,000
// backing off.
func (g *generator) status() int {
	switch n := g.rng.IntN(10_000); {
	case n < 9_500:
		return 0
	case n < 9_700:
		return 1
	case n < 9_850:
		return 2
	case n < 9_950:
		return 3
	case n < 9_999:
		return 4
	}
	return 5
}

func (g *generator) row() {
	key := g.rng.Uint64()
	st := g.status()
	created := epoch + g.rng.Int64N(month)
	g.u64(0, key)
	g.text(1, g.id(key))
	g.scope()
	g.text(3, fmt.Sprintf("service-%03d", g.rng.IntN(14)*g.rng.IntN(15)))
	g.text(4, statuses[st])
	if g.rng.IntN(20) == 0 {
		g.text(5, "limit/"+statuses[g.rng.IntN(len(statuses))])
	} else {
		g.b.Field(5).AppendNull()
	}
	g.boolean(6, st != 0)
	g.boolean(7, st == 4)
	g.times(created, st)
	g.counters(st)
}

// id is "vq_1", the key and 14 random characters in base 62.
func (g *generator) id(key uint64) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	buf := [29]byte{'v', 'q', '_', '1'}
	for i := 14; i > 3; i-- {
		buf[i], key = digits[key%62], key/62
	}
	tail := g.rng.Uint64()
	for i := 15; i < len(buf); i++ {
		buf[i], tail = digits[tail%62], tail/62
	}
	return string(buf[:])
}

func (g *generator) scope() {
	switch {
	case g.rng.IntN(20) == 0:
		g.b.Field(2).AppendNull()
	case g.hot && g.rng.IntN(100) > 0:
		g.text(2, "tenant-busy")
	default:
		g.text(2, g.scopes[g.zipf.Uint64()])
	}
}

func (g *generator) times(created int64, st int) {
	g.time(8, created)
	g.time(9, created+g.rng.Int64N(5_000))
	start := created + g.rng.Int64N(60_000)
	if st == 2 {
		for _, column := range []int{10, 11, 12, 13, 14} {
			g.b.Field(column).AppendNull()
		}
		return
	}
	run := g.rng.Int64N(600_000)
	g.time(10, start)
	g.time(11, start+g.rng.Int64N(1+run))
	if st == 0 {
		g.time(12, start+run)
	} else {
		g.b.Field(12).AppendNull()
	}
	g.i64(13, start-created)
	g.i64(14, run)
}

func (g *generator) counters(st int) {
	count := func(is int) uint64 {
		if st == is {
			return 1 + g.rng.Uint64N(9)
		}
		return 0
	}
	g.u64(15, count(2))
	g.u64(16, count(1))
	g.u64(17, count(3))
	g.u64(18, count(4))
	g.u64(19, g.rng.Uint64N(1_000))
}

func (g *generator) u64(column int, v uint64)  { g.b.Field(column).(*array.Uint64Builder).Append(v) }
func (g *generator) i64(column int, v int64)   { g.b.Field(column).(*array.Int64Builder).Append(v) }
func (g *generator) text(column int, v string) { g.b.Field(column).(*array.StringBuilder).Append(v) }
func (g *generator) boolean(column int, v bool) {
	g.b.Field(column).(*array.BooleanBuilder).Append(v)
}

func (g *generator) time(column int, ms int64) {
	g.b.Field(column).(*array.TimestampBuilder).Append(arrow.Timestamp(ms))
}
