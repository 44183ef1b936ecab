package engine

/*
void tributaryFree(void*);
void tributaryRemoteBind(void*);
void tributaryRemoteInit(void*);
void tributaryRemoteLocal(void*);
void tributaryRemoteRead(void*, void*);
*/
import "C"

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

func freeCallback() unsafe.Pointer { return C.tributaryFree }

// registerRemote adds the table function remote('id') to an instance. It
// supports projection, not filters: DuckDB applies those itself.
func registerRemote(inst *instance) error {
	f := duckdb.CreateTableFunction()
	defer duckdb.DestroyTableFunction(&f)
	text := duckdb.CreateLogicalType(duckdb.TypeVarchar)
	defer duckdb.DestroyLogicalType(&text)
	duckdb.TableFunctionSetName(f, "remote")
	duckdb.TableFunctionAddParameter(f, text)
	duckdb.TableFunctionSupportsProjectionPushdown(f, true)
	duckdb.TableFunctionSetExtraInfo(f, box(inst), C.tributaryFree)
	duckdb.TableFunctionSetBind(f, C.tributaryRemoteBind)
	duckdb.TableFunctionSetInit(f, C.tributaryRemoteInit)
	duckdb.TableFunctionSetLocalInit(f, C.tributaryRemoteLocal)
	duckdb.TableFunctionSetFunction(f, C.tributaryRemoteRead)
	if duckdb.RegisterTableFunction(inst.conn, f) != duckdb.StateSuccess {
		return status.New(status.Internal, "the engine refused the table function remote")
	}
	return nil
}

// running is what one query shares with the callbacks.
type running struct {
	ctx     context.Context // ends with the query
	cancel  context.CancelCauseFunc
	inputs  map[string]Input
	threads int

	mu  sync.Mutex
	err error
}

// fail keeps the first error of an input: DuckDB would reduce it to a text.
func (r *running) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *running) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// boundInput is the bind data of one remote('id') in a statement.
type boundInput struct {
	run    *running
	id     string
	input  Input
	schema *arrow.Schema
}

func remoteBind(info duckdb.BindInfo, run *running) error {
	param := duckdb.BindGetParameter(info, 0)
	id := duckdb.GetVarchar(param)
	duckdb.DestroyValue(&param)
	if run == nil || run.inputs[id] == nil {
		return status.New(status.InvalidArgument, "remote(%q): no such input", id)
	}
	in := &boundInput{run: run, id: id, input: run.inputs[id]}
	in.schema = in.input.Schema()
	for _, f := range in.schema.Fields() {
		t, err := logicalType(f.Type)
		if err != nil {
			return status.Wrap(status.Unimplemented, err, "column %q", f.Name)
		}
		duckdb.BindAddResultColumn(info, f.Name, t)
		duckdb.DestroyLogicalType(&t)
	}
	if n, exact := in.input.Rows(); n >= 0 {
		// An exact 0 would let DuckDB drop the scan, and with it its errors.
		duckdb.BindSetCardinality(info, duckdb.IdxT(n), exact && n > 0)
	}
	duckdb.BindSetBindData(info, box(in), C.tributaryFree)
	return nil
}

// scan is the state that the threads reading one remote('id') share.
type scan struct {
	run    *running
	id     string
	reader Reader
	fields []arrow.Field // of the columns read
}

func remoteInit(info duckdb.InitInfo, in *boundInput) error {
	columns := make([]int, duckdb.InitGetColumnCount(info))
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		columns[i] = int(duckdb.InitGetColumnIndex(info, duckdb.IdxT(i)))
		if columns[i] < 0 || columns[i] >= in.schema.NumFields() {
			return status.New(status.InvalidArgument, "a federated table has no rowid")
		}
		fields[i] = in.schema.Field(columns[i])
	}
	if err := in.run.ctx.Err(); err != nil {
		return ctxError(in.run.ctx)
	}
	reader, err := in.input.Open(in.run.ctx, columns)
	if err != nil {
		return err
	}
	duckdb.InitSetMaxThreads(info, duckdb.IdxT(in.run.threads))
	s := &scan{run: in.run, id: in.id, reader: reader, fields: fields}
	duckdb.InitSetInitData(info, box(s), C.tributaryFree)
	return nil
}

// freed closes the reader; DuckDB frees a scan when no thread reads it any more.
func (s *scan) freed() {
	if err := s.reader.Close(); err != nil {
		s.run.fail(err)
	}
}

// cursor is one thread's place in a scan: the batch that it hands out.
type cursor struct {
	batch   arrow.RecordBatch
	next    int // first row not handed out
	columns []filler
	pins    runtime.Pinner
	owned   []arrow.Array // made for this batch
}

func (c *cursor) freed() { c.drop() }

// drop lets go of the batch. DuckDB reads a chunk only until it asks for the
// next, so this happens at the start of a read.
func (c *cursor) drop() {
	if c.batch == nil {
		return
	}
	c.pins.Unpin()
	for _, a := range c.owned {
		a.Release()
	}
	c.batch.Release()
	c.batch, c.columns, c.owned, c.next = nil, nil, nil, 0
}

// read fills one chunk; a chunk of size 0 ends the thread's scan.
func (s *scan) read(c *cursor, out duckdb.DataChunk) error {
	for c.batch == nil || int64(c.next) >= c.batch.NumRows() {
		c.drop()
		batch, err := s.reader.Next(s.run.ctx)
		if errors.Is(err, io.EOF) {
			duckdb.DataChunkSetSize(out, 0)
			return nil
		}
		if err != nil {
			return err
		}
		c.batch = batch
		if err := s.load(c); err != nil {
			return err
		}
	}
	n := min(int(duckdb.VectorSize()), int(c.batch.NumRows())-c.next)
	for i, f := range c.columns {
		if err := f.fill(duckdb.DataChunkGetVector(out, duckdb.IdxT(i)), c.next, n); err != nil {
			return status.Wrap(status.DataLoss, err, "input %q, column %q", s.id, s.fields[i].Name)
		}
	}
	c.next += n
	duckdb.DataChunkSetSize(out, duckdb.IdxT(n))
	return nil
}

// load prepares the fillers of a new batch.
func (s *scan) load(c *cursor) error {
	if int(c.batch.NumCols()) != len(s.fields) {
		return status.New(status.Internal, "input %q sent %d columns instead of %d", s.id, c.batch.NumCols(), len(s.fields))
	}
	c.columns = make([]filler, len(s.fields))
	for i, f := range s.fields {
		col := c.batch.Column(i)
		if !reads(f.Type, col.DataType()) {
			return status.New(status.Internal, "input %q sent %s for column %q of type %s", s.id, col.DataType(), f.Name, f.Type)
		}
		var err error
		if c.columns[i], err = newFiller(col, c); err != nil {
			return status.Wrap(status.DataLoss, err, "input %q, column %q", s.id, f.Name)
		}
	}
	return nil
}

// reads says whether an array of type got may stand in a column of type want:
// both read as the same DuckDB type.
func reads(want, got arrow.DataType) bool {
	if want == got || arrow.TypeEqual(want, got) {
		return true
	}
	w, err1 := SQLType(want)
	g, err2 := SQLType(got)
	return err1 == nil && err2 == nil && w == g
}
