package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrowth(t *testing.T) {
	t.Parallel()
	series := func(f func(i int) int64) []int64 {
		out := make([]int64, 100)
		for i := range out {
			out[i] = f(i) * mebibyte
		}
		return out
	}
	for name, c := range map[string]struct {
		samples []int64
		verdict string
	}{
		"level":                {series(func(int) int64 { return 300 }), "flat"},
		"caches fill":          {series(func(i int) int64 { return min(300, int64(50+20*i)) }), "flat"},
		"up and down":          {series(func(i int) int64 { return 300 + int64(i%7)*10 }), "flat"},
		"a little, of little":  {series(func(i int) int64 { return 30 + int64(i)/10 }), "flat"},
		"it leaks":             {series(func(i int) int64 { return 200 + int64(i) }), "grows"},
		"it leaks, from a lot": {series(func(i int) int64 { return 2000 + int64(i)*4 }), "grows"},
		"one peak":             {series(func(i int) int64 { return map[bool]int64{true: 900, false: 300}[i == 90] }), "flat"},
		"it shrinks":           {series(func(i int) int64 { return 500 - int64(i) }), "flat"},
	} {
		r, err := growth(c.samples)
		require.Equal(t, c.verdict, r.Verdict, name)
		require.Equal(t, c.verdict == "grows", err != nil, name)
	}
	_, err := growth(make([]int64, 3))
	require.Error(t, err)
}
