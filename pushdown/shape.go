package pushdown

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// FilterShape is a conjunction without its constants: filters that differ only in
// them, or a little in how many values they list, have the same shape.
func FilterShape(filter []Expr) string {
	texts := make([]string, len(filter))
	for i, e := range filter {
		p := printer{exact: true, shape: true}
		p.expr(e)
		texts[i] = p.String()
	}
	slices.Sort(texts) // the canonical order is that of the constants
	return strings.Join(texts, " and ")
}

// hole stands for a constant in a shape.
const hole = "?"

// listHole stands for n constants; lists of about one length look alike.
func listHole(n int) string { return hole + strconv.Itoa(bits.Len(uint(n))) }
