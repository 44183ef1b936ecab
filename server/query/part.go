package query

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

// Partitioning says into how many parts a result is divided for clients that
// read several at once.
type Partitioning string

const (
	// Whole results have one part: some clients read only the first.
	Whole Partitioning = "off"
	// ByScanner makes one part of what each scanner has.
	ByScanner Partitioning = "scanner"
	// ByPartition makes one part of each partition.
	ByPartition Partitioning = "partition"
)

func parsePartitioning(v string) (Partitioning, error) {
	switch v = strings.ToLower(v); v {
	case "on", "true", "1", "yes":
		return ByScanner, nil
	case "false", "0", "no":
		return Whole, nil
	}
	return Partitioning(v), oneOf(v, string(Whole), string(ByScanner), string(ByPartition))
}

// Parts divides the result of a query as its settings ask for. It is nil for a
// whole one, and when the result cannot be divided: why says the reason.
func (st *Statement) Parts() (parts []plan.Part, why error) {
	if st.Command.Kind != Select {
		return nil, nil
	}
	return st.divide()
}

func (st *Statement) divide() (parts []plan.Part, why error) {
	switch {
	case st.Settings.PartitionedResults == Whole:
		return nil, nil
	case len(st.rows) > 1:
		return nil, status.New(status.Unimplemented, "the result of several rows of parameters is not divided")
	}
	return st.plan.Parts(st.Settings.PartitionedResults == ByPartition)
}

// partsText says for EXPLAIN what a client gets; "" for a whole result.
func (st *Statement) partsText() string {
	parts, why := st.divide()
	switch {
	case why != nil:
		return "endpoints: 1 (" + why.Error() + ")"
	case parts == nil:
		return ""
	}
	var b strings.Builder
	b.WriteString("endpoints:")
	for i := range parts {
		b.WriteString("\n  scanner " + parts[i].Scanner + ": " + strings.Join(parts[i].Spec.Partitions, ", "))
	}
	return b.String()
}

// PreparePart makes a statement of a part that EncodePart wrote.
func (s *Service) PreparePart(ctx context.Context, sql string, encoded []byte, set Settings) (*Statement, error) {
	part, err := decodePart(encoded)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "the ticket's part of the result cannot be read")
	}
	st := &Statement{SQL: sql, Command: Command{Kind: Select, SQL: part.SQL}, Settings: set, part: part}
	if err := s.plan(ctx, st); err != nil {
		s.metrics.failed(err)
		return nil, err
	}
	return st, nil
}

// partText is a part as it travels in a ticket.
type partText struct {
	SQL      string `json:"sql"`
	Schema   []byte `json:"schema"`
	Spec     []byte `json:"spec"`
	Columns  []int  `json:"columns,omitempty"`
	Residual string `json:"residual,omitempty"`
	Scanner  string `json:"scanner"`
	Epoch    string `json:"epoch"`
	Version  string `json:"version"`
	Rules    string `json:"rules,omitempty"`
}

// EncodePart writes a part for a ticket.
func EncodePart(p *plan.Part) ([]byte, error) {
	spec, err := codec.MarshalSpec(p.Spec)
	if err != nil {
		return nil, err
	}
	text := partText{
		Spec: spec, SQL: p.SQL, Schema: flight.SerializeSchema(p.Schema, memory.DefaultAllocator), Columns: p.Columns, Residual: p.Residual,
		Scanner: p.Scanner, Epoch: p.Epoch, Version: p.Version, Rules: p.Rules,
	}
	out, err := json.Marshal(text)
	return out, status.Wrap(status.Internal, err, "cannot encode a part")
}

func decodePart(encoded []byte) (*plan.Part, error) {
	var text partText
	if err := json.Unmarshal(encoded, &text); err != nil {
		return nil, err
	}
	p := &plan.Part{
		SQL: text.SQL, Columns: text.Columns, Residual: text.Residual,
		Scanner: text.Scanner, Epoch: text.Epoch, Version: text.Version, Rules: text.Rules,
	}
	var err error
	if p.Schema, err = decodeSchema(text.Schema); err != nil {
		return nil, err
	}
	p.Spec, err = codec.UnmarshalSpec(text.Spec)
	return p, err
}

func decodeSchema(raw []byte) (*arrow.Schema, error) {
	return flight.DeserializeSchema(raw, memory.DefaultAllocator)
}
