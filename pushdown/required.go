package pushdown

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// The capability names without a family.
const (
	CapFilter     Capability = "filter"
	CapFilterIn   Capability = "filter.in"
	CapFilterLike Capability = "filter.like"
	CapExprArith  Capability = "expr.arith"
	CapExprCast   Capability = "expr.cast"
	CapExprCase   Capability = "expr.case"
	CapExprCall   Capability = "expr.call"
	CapAggCount   Capability = "agg.count"
	CapLimit      Capability = "limit"
	CapTopN       Capability = "topn"
	// CapWiden is the capability to read columns wider than they are, and those
	// that are lacking as NULL: see package widen. No spec requires it.
	CapWiden  Capability = "widen"
	CapReduce Capability = "reduce"
	CapLookup Capability = "lookup"
	// CapDynamicFilter is no work of a spec: such a scanner heeds filters that
	// arrive while it scans.
	CapDynamicFilter Capability = "dynamic_filter"
)

// CapSum is the capability to sum values of a family.
func CapSum(f Family) Capability { return Capability("agg.sum." + f) }

// CapMinMax is the capability of MIN and MAX over a family.
func CapMinMax(f Family) Capability { return Capability("agg.minmax." + f) }

// CapGroup is the capability to group by a key of a family.
func CapGroup(f Family) Capability { return Capability("group." + f) }

// AllCapabilities returns everything that the kernels do.
func AllCapabilities() Capabilities {
	names := []Capability{
		CapFilter, CapFilterIn, CapFilterLike, CapExprArith, CapExprCast, CapExprCase, CapExprCall,
		CapAggCount, CapLimit, CapTopN, CapReduce, CapLookup, CapWiden,
		CapSum(FamilyInt), CapSum(FamilyFloat), CapSum(FamilyDecimal),
	}
	for _, f := range []Family{
		FamilyBool, FamilyInt, FamilyFloat, FamilyDecimal, FamilyString,
		FamilyBinary, FamilyDate, FamilyTime, FamilyTimestamp,
	} {
		names = append(names, CapMinMax(f), CapGroup(f))
	}
	return NewCapabilities(names...)
}

// Required returns the capabilities that running all of s takes, in order. A
// plain scan of columns takes none.
func (s *Spec) Required() []Capability {
	var need []Capability
	before, _ := s.FilterParts()
	for _, e := range before {
		need = append(need, requiredByFilter(e)...)
	}
	need = append(need, s.requiredByLookups()...)
	need = append(need, s.requiredByAggregate()...)
	need = append(need, s.requiredByLimit()...)
	if s.Reduce != nil {
		need = append(need, CapReduce)
	}
	slices.Sort(need)
	return slices.Compact(need)
}

func (s *Spec) requiredByLimit() []Capability {
	switch {
	case len(s.OrderBy) > 0:
		return []Capability{CapTopN}
	case s.Limit != NoLimit && !s.Grouped():
		return []Capability{CapLimit}
	}
	return nil
}

func (s *Spec) requiredByAggregate() []Capability {
	var need []Capability
	for _, k := range s.GroupBy {
		f, _ := FamilyOf(k.Expr.Type())
		need = append(append(need, CapGroup(f)), requiredByExpr(k.Expr)...)
	}
	for _, a := range s.Aggregates {
		need = append(need, a.capability())
		need = append(need, requiredByExpr(a.Arg)...)
		if a.Filter != nil {
			need = append(need, requiredByFilter(a.Filter)...)
		}
	}
	return need
}

func (a Aggregate) capability() Capability {
	if a.Func == CountStar || a.Func == Count {
		return CapAggCount
	}
	f, _ := FamilyOf(a.Arg.Type())
	if a.Func == Sum {
		return CapSum(f)
	}
	return CapMinMax(f)
}

func requiredByFilter(e Expr) []Capability {
	return append(requiredByExpr(e), CapFilter)
}

func requiredByExpr(e Expr) []Capability {
	var need []Capability
	Walk(e, func(e Expr) bool {
		need = append(need, requiredByNode(e)...)
		return true
	})
	slices.Sort(need)
	return slices.Compact(need)
}

func requiredByNode(e Expr) []Capability {
	switch e.(type) {
	case Compare, And, Or, Not, IsNull:
		return []Capability{CapFilter}
	case In:
		return []Capability{CapFilter, CapFilterIn}
	case Like:
		return []Capability{CapFilter, CapFilterLike}
	case Arith:
		return []Capability{CapExprArith}
	case Cast:
		return []Capability{CapExprCast}
	case Case, Coalesce:
		return []Capability{CapExprCase}
	case Call:
		return []Capability{CapExprCall}
	}
	return nil
}

// WithCarrier returns s fit for Split: a partial aggregate that reads no
// column, such as count(*), gets the narrowest column of the table as its
// Columns, so that a source without aggregates can stream something to count.
// Any other spec is returned as it is.
func (s *Spec) WithCarrier(table *arrow.Schema) Spec {
	out := *s
	if !s.Grouped() || len(s.Columns) > 0 || len(s.InputColumns()) > 0 || table.NumFields() == 0 {
		return out
	}
	best := slices.MinFunc(table.Fields(), func(a, b arrow.Field) int { return width(a.Type) - width(b.Type) })
	out.Columns = []Column{{Name: best.Name, DataType: best.Type}}
	return out
}

// width is about the bits of a value on the wire.
func width(t arrow.DataType) int {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return 64 + width(t.IndexType)
	case arrow.FixedWidthDataType:
		return t.BitWidth()
	}
	return 1 << 16
}
