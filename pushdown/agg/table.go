package agg

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// word is the raw form of a fixed-width key.
type word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

const minSlots = 64

// grown is how many slots follow n: few grow fast, many slowly, so that a table
// takes no more than it needs just before it is full.
func grown(n int) int {
	if n < 1<<16 {
		return 4 * n
	}
	return 2 * n
}

// hashing is shared by the tables of one aggregator. The seed differs between
// aggregators, so that no input can be built to collide.
type hashing struct {
	seed maphash.Seed
	salt uint64
	mask uint64
}

func newHashing(mask uint64) hashing {
	if mask == 0 {
		mask = ^uint64(0)
	}
	seed := maphash.MakeSeed()
	return hashing{seed: seed, salt: maphash.String(seed, "tributary"), mask: mask}
}

func (h *hashing) word(k uint64) uint64 {
	hi, lo := bits.Mul64(k^h.salt, 0x9E3779B97F4A7C15)
	return (hi ^ lo) & h.mask
}

// wordSlot holds a key and its id plus one; zero is an empty slot.
type wordSlot struct {
	key uint64
	ref uint32
}

// wordTable numbers distinct 64-bit keys by open addressing.
type wordTable struct {
	hashing
	slots []wordSlot
	keys  []uint64 // by id
}

func newWordTable(h hashing) *wordTable {
	return &wordTable{hashing: h, slots: make([]wordSlot, minSlots)}
}

// internWords writes the id of each key to out, adding the new ones.
func internWords[T word](t *wordTable, out []uint32, keys []T) {
	slots, top := t.slots, uint64(len(t.slots)-1)
	out = out[:len(keys)]
	for i, v := range keys {
		k := uint64(v)
		for p := t.word(k) & top; ; p = (p + 1) & top {
			s := &slots[p]
			if s.key == k && s.ref != 0 {
				out[i] = s.ref - 1
				break
			}
			if s.ref == 0 {
				out[i] = t.insert(p, k)
				slots, top = t.slots, uint64(len(t.slots)-1)
				break
			}
		}
	}
}

// insert puts k into the empty slot p.
func (t *wordTable) insert(p, k uint64) uint32 {
	id := t.addKey(k)
	t.slots[p] = wordSlot{key: k, ref: id + 1}
	if 2*len(t.keys) > len(t.slots) {
		t.grow()
	}
	return id
}

// addKey numbers k without making it findable; the NULL of a column is such a
// key.
func (t *wordTable) addKey(k uint64) uint32 {
	t.keys = append(t.keys, k)
	return uint32(len(t.keys) - 1)
}

func (t *wordTable) grow() {
	old := t.slots
	t.slots = make([]wordSlot, grown(len(old)))
	top := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.ref == 0 {
			continue
		}
		p := t.word(s.key) & top
		for t.slots[p].ref != 0 {
			p = (p + 1) & top
		}
		t.slots[p] = s
	}
}

func (t *wordTable) reset() {
	t.slots, t.keys = clearSlots(t.slots), t.keys[:0]
}

func (t *wordTable) bytes() int64 { return int64(len(t.slots))*16 + int64(cap(t.keys))*8 }

// digest identifies a byte string: exactly when it has at most 16 bytes, which
// then lie in a and b, else by hash.
type digest struct {
	a, b uint64
	n    uint32
}

const exactBytes = 16

func (h *hashing) digest(s []byte) digest {
	n := len(s)
	d := digest{n: uint32(n)}
	switch {
	case n > exactBytes:
		d.a = maphash.Bytes(h.seed, s) & h.mask
	case n >= 8:
		d.a, d.b = binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[n-8:])
	case n >= 4:
		d.a, d.b = uint64(binary.LittleEndian.Uint32(s)), uint64(binary.LittleEndian.Uint32(s[n-4:]))
	case n > 0:
		d.a = uint64(s[0])<<16 | uint64(s[n/2])<<8 | uint64(s[n-1])
	}
	return d
}

func (h *hashing) mix(d digest) uint64 {
	hi, lo := bits.Mul64(d.a^h.salt, d.b^bits.RotateLeft64(h.salt, 32)^uint64(d.n))
	return (hi ^ lo) & h.mask
}

// byteSlot holds a digest and the id plus one; zero is an empty slot.
type byteSlot struct {
	digest
	ref uint32
}

// byteTable numbers distinct byte strings. The strings lie in one arena.
type byteTable struct {
	hashing
	slots  []byteSlot
	starts []int // by id, and the end of the last
	arena  []byte
}

func newByteTable(h hashing) *byteTable {
	return &byteTable{hashing: h, slots: make([]byteSlot, minSlots), starts: []int{0}}
}

func (t *byteTable) size() int { return len(t.starts) - 1 }

func (t *byteTable) at(id uint32) []byte { return t.arena[t.starts[id]:t.starts[id+1]] }

// intern returns the id of s, adding it when new.
func (t *byteTable) intern(s []byte) uint32 {
	d := t.digest(s)
	slots, top := t.slots, uint64(len(t.slots)-1)
	for p := t.mix(d) & top; ; p = (p + 1) & top {
		slot := &slots[p]
		if slot.ref == 0 {
			return t.insert(p, d, s)
		}
		if slot.a == d.a && slot.b == d.b && slot.n == d.n && (len(s) <= exactBytes || string(t.at(slot.ref-1)) == string(s)) {
			return slot.ref - 1
		}
	}
}

func (t *byteTable) insert(p uint64, d digest, s []byte) uint32 {
	id := t.addKey(s)
	t.slots[p] = byteSlot{digest: d, ref: id + 1}
	if 2*t.size() > len(t.slots) {
		t.grow()
	}
	return id
}

// addKey numbers s without making it findable.
func (t *byteTable) addKey(s []byte) uint32 {
	t.arena = append(t.arena, s...)
	t.starts = append(t.starts, len(t.arena))
	return uint32(t.size() - 1)
}

func (t *byteTable) grow() {
	old := t.slots
	t.slots = make([]byteSlot, grown(len(old)))
	top := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.ref == 0 {
			continue
		}
		p := t.mix(s.digest) & top
		for t.slots[p].ref != 0 {
			p = (p + 1) & top
		}
		t.slots[p] = s
	}
}

func (t *byteTable) reset() {
	t.slots, t.starts, t.arena = clearSlots(t.slots), t.starts[:1], t.arena[:0]
}

func (t *byteTable) bytes() int64 {
	return int64(len(t.slots))*24 + int64(cap(t.starts))*8 + int64(cap(t.arena))
}

// clearSlots empties a slot table; a large one is not kept, since clearing it
// costs its size at every reset.
func clearSlots[S any](slots []S) []S {
	const kept = 1 << 16
	if len(slots) > kept {
		return make([]S, minSlots)
	}
	clear(slots)
	return slots
}
