package query

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/server/adapt"
)

// explain returns the plan as rows of text; with Analyze it runs the query to
// its end first and adds what was measured.
func (s *Service) explain(run *running, st *Statement) (Stream, error) {
	remembered := s.cfg.Executor.Remembered(st.plan, st.Settings.Adaptive) // before Analyze adds to it
	text := func() string { return s.cfg.Executor.Choose(st.plan, st.Settings.Adaptive).Explain() + remembered }
	if st.Command.Analyze {
		if err := s.analyze(run, st); err != nil {
			return nil, err
		}
		text = func() string {
			return run.stream.Plan().ExplainAnalyze(run.stream.Stats()) + remembered + adapt.Text(run.stream.Rounds())
		}
	}
	return newTextStream(st.Schema, s.cfg.Alloc, strings.Split(strings.TrimRight(text()+st.partsText(), "\n"), "\n")), nil
}

// analyze runs a query like any other, and drops its rows.
func (s *Service) analyze(run *running, st *Statement) error {
	stream, err := s.execute(run.ctx, run.record.ID, st)
	if err != nil {
		return err
	}
	run.stream = stream
	return errors.Join(drain(run.ctx, run), run.stream.Close())
}

func drain(ctx context.Context, stream Stream) error {
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		batch.Release()
	}
}

// textSchema is a result of one text column.
func textSchema(name string) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
}

// textStream yields one batch of one text column.
type textStream struct {
	schema *arrow.Schema
	batch  arrow.RecordBatch
}

func newTextStream(schema *arrow.Schema, mem memory.Allocator, lines []string) *textStream {
	b := array.NewStringBuilder(mem)
	defer b.Release()
	b.AppendValues(lines, nil)
	col := b.NewArray()
	defer col.Release()
	return &textStream{schema: schema, batch: array.NewRecordBatch(schema, []arrow.Array{col}, int64(len(lines)))}
}

// Schema is the one text column.
func (t *textStream) Schema() *arrow.Schema { return t.schema }

// Next returns the batch once.
func (t *textStream) Next(context.Context) (arrow.RecordBatch, error) {
	if t.batch == nil {
		return nil, io.EOF
	}
	batch := t.batch
	t.batch = nil
	return batch, nil
}

// Close releases the batch if it was not taken.
func (t *textStream) Close() error {
	if t.batch != nil {
		t.batch.Release()
		t.batch = nil
	}
	return nil
}
