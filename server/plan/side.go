package plan

// Side finds the side of a join and its column that an output column is; not ok
// for a mark, and where rows are not paired by value.
func (n *Join) Side(column int) (left bool, at int, ok bool) {
	switch n.Kind {
	case RightSemiJoin, RightAntiJoin:
		return false, Projected(n.RightProjection, column), true
	case SemiJoin, AntiJoin:
		return true, Projected(n.LeftProjection, column), true
	case AsofJoin, AsofLeftJoin, PositionalJoin:
		return false, 0, false
	}
	width := len(n.Left.Columns())
	if n.LeftProjection != nil {
		width = len(n.LeftProjection)
	}
	if column < width {
		return true, Projected(n.LeftProjection, column), true
	}
	if n.Kind == MarkJoin {
		return false, 0, false
	}
	return false, Projected(n.RightProjection, column-width), true
}

// Projected is the input's position of an output column; without a projection
// they are the same.
func Projected(projection []int, column int) int {
	if projection == nil {
		return column
	}
	return projection[column]
}
