package eval

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// frame is the window of rows that a program evaluates at once.
type frame struct {
	// cols are the arrays that the program reads.
	cols []arrow.Array
	// off is the first row of the window, n the number of rows.
	off, n int
	// sel, when not nil, picks n rows of the window, relative to off.
	sel []int32
	// batch tells the batches of one program apart.
	batch uint64
}

// subset is a frame over some rows of another, with the memory that takes.
type subset struct {
	rows  []int32
	sel   []int32
	frame frame
}

// of narrows f to the rows of mask.
func (s *subset) of(f *frame, mask []uint64) *frame {
	s.rows = appendRows(s.rows[:0], mask[:wordsFor(f.n)], 0)
	sel := s.rows
	if f.sel != nil {
		s.sel = resize(s.sel, len(s.rows))
		for i, r := range s.rows {
			s.sel[i] = f.sel[r]
		}
		sel = s.sel
	}
	s.frame = frame{cols: f.cols, off: f.off, n: len(sel), sel: sel, batch: f.batch}
	return &s.frame
}

// truth evaluates n on the rows of mask alone and spreads what it finds over
// bitmaps of f's rows; rows outside mask are in neither.
func (s *subset) truth(n node, f *frame, mask []uint64, out *truth) error {
	out.resize(f.n)
	clear(out.yes)
	clear(out.no)
	sub := s.of(f, mask)
	if sub.n == 0 {
		return nil
	}
	b, err := evalTruth(n, sub)
	if err != nil {
		return err
	}
	scatterBits(out.yes, b.yes, s.rows)
	scatterBits(out.no, b.no, s.rows)
	return nil
}
