package widen

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// maxStep is the greatest power of ten of 64 bits.
const maxStep = 19

// scaled is x × 10^up, wrapped to 128 bits. Arrow's IncreaseScaleBy is the same,
// by way of big.Int.
func scaled(x decimal128.Num, up int32) decimal128.Num {
	for up > 0 {
		step := min(up, maxStep)
		ten := decimal128.GetScaleMultiplier(int(step)).LowBits()
		hi, lo := bits.Mul64(x.LowBits(), ten)
		x = decimal128.New(int64(uint64(x.HighBits())*ten+hi), lo)
		up -= step
	}
	return x
}
