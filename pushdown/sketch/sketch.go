// Package sketch estimates how many different values there are. A Sketch is a
// HyperLogLog of a fixed size; those of several parts of the rows can be put
// together. Estimates are off by about a fifteenth: they say what pays, and no
// answer may depend on them.
package sketch

import (
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cespare/xxhash/v2"

	"github.com/tributary-db/tributary/pushdown/partition"
)

const (
	indexBits = 8
	// size is the number of registers.
	size = 1 << indexBits
	// bias corrects the mean for this size.
	bias = 0.7213 / (1 + 1.079/size)
)

// Sketch has seen some values. The zero value has seen none.
type Sketch struct{ registers [size]uint8 }

// Of has seen the values of arrays of one type; nil for a type without canonical
// bytes. Values that are equal after they were widened count once.
func Of(arrays []arrow.Array) *Sketch {
	s := &Sketch{}
	for _, a := range arrays {
		if !partition.EachValue(a, func(text []byte) { s.add(xxhash.Sum64(text)) }) {
			return nil
		}
	}
	return s
}

func (s *Sketch) add(hash uint64) {
	at := hash >> (64 - indexBits)
	rank := uint8(bits.LeadingZeros64(hash<<indexBits|1<<(indexBits-1))) + 1
	s.registers[at] = max(s.registers[at], rank)
}

// Merge adds what another sketch has seen.
func (s *Sketch) Merge(o *Sketch) {
	for i, rank := range o.registers {
		s.registers[i] = max(s.registers[i], rank)
	}
}

// Count estimates the number of different values.
func (s *Sketch) Count() float64 {
	sum, empty := 0.0, 0
	for _, rank := range s.registers {
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			empty++
		}
	}
	n := bias * size * size / sum
	if n <= 2.5*size && empty > 0 { // few values hit a register of their own
		return size * math.Log(size/float64(empty))
	}
	return n
}

// Bytes is the sketch as it travels: all registers, or pairs of a place and its
// register where these are fewer bytes.
func (s *Sketch) Bytes() []byte {
	var pairs []byte
	for i, rank := range s.registers {
		if rank != 0 {
			pairs = append(pairs, byte(i), rank)
		}
	}
	if len(pairs) < size {
		return pairs
	}
	return append([]byte(nil), s.registers[:]...)
}

// Parse reads Bytes; nil for what is no sketch.
func Parse(data []byte) *Sketch {
	s := &Sketch{}
	switch {
	case len(data) == size:
		copy(s.registers[:], data)
	case len(data) < size && len(data)%2 == 0:
		for i := 0; i < len(data); i += 2 {
			s.registers[data[i]] = data[i+1]
		}
	default:
		return nil
	}
	for _, rank := range s.registers {
		if rank > 64-indexBits+1 {
			return nil
		}
	}
	return s
}
