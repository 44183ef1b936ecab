package exec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

// answer delivers the rows that statistics give. It comes last, so that another
// scanner can still take over when this one fails before it has sent a row.
func (a *attempt) answer(p *processor) error {
	if len(a.target.Answers) == 0 {
		return nil
	}
	rec, err := recordOf(a.open.scan.plan.Spec.OutputSchema(), a.target.Answers, p.mem)
	if err != nil {
		return err
	}
	out, err := p.shape([]arrow.RecordBatch{rec})
	if err != nil {
		return err
	}
	if !a.started {
		a.stats.target.arrived(plan.ModeStatistics, plan.Counts{})
	}
	return a.open.deliver(out, nil)
}

// recordOf makes a batch of rows of values.
func recordOf(schema *arrow.Schema, rows [][]scalar.Scalar, mem memory.Allocator) (arrow.RecordBatch, error) {
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			if err := scalar.Append(b.Field(i), v); err != nil {
				return nil, status.Wrap(status.Internal, err, "statistics of column %q", schema.Field(i).Name)
			}
		}
	}
	return b.NewRecordBatch(), nil
}
