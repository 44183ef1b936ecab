package codec

import (
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/partition"
)

// hashFunction names the hash of package partition.
const hashFunction = "xxh64/1"

func promiseToProto(out *pb.Partition, p *partition.Promise) error {
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		values := &pb.ColumnValues{Name: name}
		for _, v := range p.Values[name] {
			if !v.IsValid() {
				values.Null = true
				continue
			}
			l, err := literalToProto(v)
			if err != nil {
				return err
			}
			values.Values = append(values.Values, l)
		}
		out.Values = append(out.Values, values)
	}
	if p.Buckets != nil {
		out.Buckets = &pb.HashBuckets{Function: hashFunction, Columns: p.Buckets.Columns, Of: uint32(p.Buckets.Of)}
		for _, i := range p.Buckets.Holds {
			out.Buckets.Holds = append(out.Buckets.Holds, uint32(i))
		}
	}
	return nil
}

// promiseFromProto leaves out what this version cannot read: less is promised
// then.
func promiseFromProto(p *pb.Partition) partition.Promise {
	var out partition.Promise
	for _, c := range p.GetValues() {
		values, ok := valuesFromProto(c)
		if !ok {
			continue
		}
		if out.Values == nil {
			out.Values = map[string][]scalar.Scalar{}
		}
		out.Values[c.GetName()] = values
	}
	if b := p.GetBuckets(); b.GetFunction() == hashFunction && len(b.GetColumns()) > 0 && b.GetOf() > 0 {
		out.Buckets = &partition.Buckets{Hash: partition.Hash{Columns: b.GetColumns(), Of: int(b.GetOf())}}
		for _, i := range b.GetHolds() {
			out.Buckets.Holds = append(out.Buckets.Holds, int(i))
		}
	}
	return out
}

func valuesFromProto(c *pb.ColumnValues) ([]scalar.Scalar, bool) {
	var out []scalar.Scalar
	for _, l := range c.GetValues() {
		v := bound(l)
		if v == nil || !v.IsValid() {
			return nil, false
		}
		out = append(out, v)
	}
	if c.GetNull() {
		out = append(out, scalar.MakeNullScalar(arrow.Null))
	}
	return out, true
}
