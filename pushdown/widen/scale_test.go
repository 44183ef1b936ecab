package widen

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"
)

func TestScaled(t *testing.T) {
	t.Parallel()
	for _, x := range []decimal128.Num{
		{}, decimal128.FromI64(1), decimal128.FromI64(-1), decimal128.FromI64(math.MinInt64), decimal128.FromU64(math.MaxUint64),
		decimal128.New(12345, 678), decimal128.New(-12345, 678),
	} {
		for up := range int32(39) {
			want := new(big.Int).Mul(x.BigInt(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(up)), nil))
			if want.BitLen() < 127 {
				require.Equal(t, want.String(), scaled(x, up).BigInt().String(), "%s × 10^%d", x.BigInt(), up)
			}
		}
	}
}
