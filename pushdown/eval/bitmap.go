package eval

import (
	"encoding/binary"
	"math/bits"
)

const (
	// chunkRows is how many rows run through a program at once.
	chunkRows  = 4096
	chunkWords = chunkRows / 64
)

func wordsFor(n int) int { return (n + 63) >> 6 }

func bit(words []uint64, i int) bool { return words[i>>6]>>(i&63)&1 != 0 }

func setBit(words []uint64, i int) { words[i>>6] |= 1 << (i & 63) }

// byteBit reads a bit of an Arrow bitmap; an absent bitmap is all ones.
func byteBit(b []byte, i int) bool { return b == nil || b[i>>3]>>(i&7)&1 != 0 }

// resize returns s with length n, growing it when it must; what it holds is
// unspecified.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, min(2*n, chunkRows)))
	}
	return s[:n]
}

// loadBits copies n bits of src from bit off to the start of dst.
func loadBits(dst []uint64, src []byte, off, n int) {
	p, shift := off>>3, off&7
	for i := range wordsFor(n) {
		if p+9 <= len(src) {
			dst[i] = binary.LittleEndian.Uint64(src[p:]) >> shift
			if shift > 0 {
				dst[i] |= uint64(src[p+8]) << (64 - shift)
			}
		} else {
			dst[i] = loadTail(src, p, shift)
		}
		p += 8
	}
}

func loadTail(src []byte, p, shift int) uint64 {
	var w uint64
	for k := 0; k < 9 && p+k < len(src); k++ {
		at := 8*k - shift
		if at < 0 {
			w |= uint64(src[p+k]) >> -at
		} else {
			w |= uint64(src[p+k]) << at
		}
	}
	return w
}

// gatherBits sets bit i of dst to bit base+rows[i] of src.
func gatherBits(dst []uint64, src []byte, base int, rows []int32) {
	clear(dst[:wordsFor(len(rows))])
	for i, r := range rows {
		at := base + int(r)
		dst[i>>6] |= uint64(src[at>>3]>>(at&7)&1) << (i & 63)
	}
}

// fill sets the first n bits of dst and clears the rest of the last word.
func fill(dst []uint64, n int) {
	for i := range dst[:wordsFor(n)] {
		dst[i] = ^uint64(0)
	}
	maskTail(dst, n)
}

// maskTail clears the bits from n on in the word that holds bit n-1.
func maskTail(words []uint64, n int) {
	if rest := n & 63; rest != 0 {
		words[n>>6] &= 1<<rest - 1
	}
}

func isZero(words []uint64) bool {
	for _, w := range words {
		if w != 0 {
			return false
		}
	}
	return true
}

func popCount(words []uint64) int {
	n := 0
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// appendRows appends base plus the position of every set bit.
func appendRows(rows []int32, words []uint64, base int32) []int32 {
	for _, w := range words {
		if w == ^uint64(0) {
			for i := range int32(64) {
				rows = append(rows, base+i)
			}
		} else {
			for ; w != 0; w &= w - 1 {
				rows = append(rows, base+int32(bits.TrailingZeros64(w)))
			}
		}
		base += 64
	}
	return rows
}

// scatterBits sets bit rows[i] of dst for every set bit i of src.
func scatterBits(dst, src []uint64, rows []int32) {
	for i, r := range rows {
		dst[r>>6] |= src[i>>6] >> (i & 63) & 1 << (r & 63)
	}
}

// andValid writes the rows valid in both a and b, nil meaning all rows, and
// returns nil when that is all rows.
func andValid(dst, a, b []uint64) []uint64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	dst = resize(dst, len(a))
	for i := range dst {
		dst[i] = a[i] & b[i]
	}
	return dst
}
