package exec

import (
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/engine"
)

// broadcast starts the engine over the plan's Broadcast: the rows of the small scans,
// which are held, travel with the scans of the large tables. ok is false when they are too
// large after all.
func (a *adaptive) broadcast() (s source, ok bool, err error) {
	b := a.query.plan.Broadcast
	inputs := make(map[string]engine.Input, len(b.Scans))
	for i, s := range b.Plan.Scans {
		first := a.stages[b.Scans[i]]
		if len(b.Small[i]) == 0 {
			inputs[s.ID] = &stageInput{input: newInput(first.scan, false), stage: first}
			continue
		}
		rows, err := a.relations(s.Spec.Lookups, b.Small[i])
		if status.CodeOf(err) == status.ResourceExhausted {
			return nil, false, nil
		}
		if err != nil {
			return nil, true, err
		}
		joined := s.WithRelations(rows)
		joined.ID += "b" // the first plan has another scan of this name
		if filters := a.graph.Filters(b.Scans[i]); len(filters) > 0 {
			joined = joined.Narrow(exprs(filters))
		}
		scan := newRemoteScan(a.query, joined)
		if planned := a.query.planned(first.scan); len(planned.stats) == len(scan.stats) {
			scan.stats = planned.stats
		}
		inputs[s.ID] = newInput(scan, false)
	}
	s, err = a.query.runEngine(b.Plan.Residual, nil, inputs)
	return s, true, err
}

// relations are the rows that the lookups of a scan take of stages.
func (a *adaptive) relations(lookups []pushdown.Lookup, small []int) ([]*pushdown.Relation, error) {
	out := make([]*pushdown.Relation, len(small))
	for i, at := range small {
		var err error
		if out[i], err = run.Relation(lookups[i].Columns, a.stages[at].held); err != nil {
			return nil, err
		}
	}
	return out, nil
}
