package pushdown

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Validate reports whether s is well formed over a table of the given schema
// and whether the kernels can run all of it. The error is InvalidArgument and
// names the offending part. Validate does not panic, whatever s holds.
func (s *Spec) Validate(table *arrow.Schema) error {
	v := &validator{spec: s, types: map[string]arrow.DataType{}}
	v.check.column = v.column
	for _, f := range table.Fields() {
		if _, twice := v.types[f.Name]; twice {
			return v.fail("the table has two columns named %q", f.Name)
		}
		v.types[f.Name] = f.Type
	}
	for _, part := range []func() error{v.shape, v.partitions, v.columns, v.lookups, v.filter, v.groupBy, v.aggregates, v.orderBy, v.reduction} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

type validator struct {
	spec    *Spec
	types   map[string]arrow.DataType
	outputs map[string]bool
	check   checker
}

func (v *validator) fail(format string, args ...any) error {
	return status.New(status.InvalidArgument, "spec of table %q: %s", v.spec.Table, fmt.Sprintf(format, args...))
}

func (v *validator) column(c Column) error {
	t, ok := v.types[c.Name]
	if !ok {
		return status.New(status.InvalidArgument, "no column %q", c.Name)
	}
	if !arrow.TypeEqual(t, c.DataType) {
		return status.New(status.InvalidArgument, "column %q is %s, not %s", c.Name, typeText(t), typeText(c.DataType))
	}
	return nil
}

func (v *validator) expr(where string, e Expr) error {
	if err := v.check.expr(e, 1); err != nil {
		return v.fail("%s: %s", where, err)
	}
	return nil
}

func (v *validator) boolean(where string, e Expr) error {
	if err := v.expr(where, e); err != nil {
		return err
	}
	if err := checkBool("a filter", e); err != nil {
		return v.fail("%s: %s", where, err)
	}
	return nil
}

// output notes a result column's name, which must be new.
func (v *validator) output(where, name string) error {
	if v.outputs[name] {
		return v.fail("%s: two output columns are named %q", where, name)
	}
	if v.outputs == nil {
		v.outputs = map[string]bool{}
	}
	v.outputs[name] = true
	return nil
}

func (v *validator) shape() error {
	s := v.spec
	for _, part := range []struct {
		what string
		n    int
	}{
		{"columns", len(s.Columns)}, {"conjuncts", len(s.Filter)}, {"group keys", len(s.GroupBy)},
		{"aggregates", len(s.Aggregates)}, {"sort keys", len(s.OrderBy)},
	} {
		if part.n > MaxColumns {
			return v.fail("more than %d %s", MaxColumns, part.what)
		}
	}
	switch {
	case s.Table == "":
		return v.fail("the table has no name")
	case s.Limit < NoLimit:
		return v.fail("the limit %d is negative", s.Limit)
	case s.Grouped() && (s.Limit != NoLimit || len(s.OrderBy) > 0):
		return v.fail("an aggregate has no limit or order")
	case s.Grouped() && len(s.Columns) > 1:
		return v.fail("an aggregate has no columns besides one carrier")
	case !s.Grouped() && len(s.Columns) == 0:
		return v.fail("a row scan needs a column: call Spec.WithCarrier before Split")
	case len(s.OrderBy) > 0 && s.Limit == NoLimit:
		return v.fail("an order needs a limit")
	}
	return nil
}

func (v *validator) partitions() error {
	ids := v.spec.Partitions
	if len(ids) == 0 {
		return v.fail("no partitions")
	}
	if len(ids) > MaxPartitions {
		return v.fail("more than %d partitions", MaxPartitions)
	}
	seen := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		if _, twice := seen[id]; twice {
			return v.fail("partition %q is listed twice", id)
		}
		seen[id] = struct{}{}
	}
	return nil
}

func (v *validator) columns() error {
	for i, c := range v.spec.Columns {
		where := fmt.Sprintf("column %d", i)
		if err := v.expr(where, c); err != nil {
			return err
		}
		if v.spec.Grouped() {
			continue
		}
		if err := v.output(where, c.Name); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) filter() error {
	for i, e := range v.spec.Filter {
		if err := v.boolean(fmt.Sprintf("conjunct %d", i), e); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) groupBy() error {
	for _, k := range v.spec.GroupBy {
		where := fmt.Sprintf("group key %q", k.Name)
		if err := v.expr(where, k.Expr); err != nil {
			return err
		}
		if err := v.family(where, k.Expr); err != nil {
			return err
		}
		if err := v.output(where, k.Name); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) family(where string, e Expr) error {
	if _, ok := FamilyOf(e.Type()); !ok {
		return v.fail("%s: values of type %s have no order here", where, typeText(e.Type()))
	}
	return nil
}

func (v *validator) aggregates() error {
	for _, a := range v.spec.Aggregates {
		where := fmt.Sprintf("aggregate %q", a.Name)
		if err := v.aggregate(where, a); err != nil {
			return err
		}
		if err := v.output(where, a.Name); err != nil {
			return err
		}
		if a.Filter == nil {
			continue
		}
		if err := v.boolean(where+" filter", a.Filter); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) aggregate(where string, a Aggregate) error {
	if a.Func < CountStar || a.Func > Max {
		return v.fail("%s: unknown function %d", where, a.Func)
	}
	if a.Func == CountStar {
		if a.Arg != nil {
			return v.fail("%s: count(*) takes no argument", where)
		}
		return nil
	}
	if err := v.expr(where, a.Arg); err != nil {
		return err
	}
	switch a.Func {
	case Sum:
		if SumType(a.Arg.Type()) == nil {
			return v.fail("%s: cannot sum %s", where, typeText(a.Arg.Type()))
		}
	case Min, Max:
		return v.family(where, a.Arg)
	}
	return nil
}

func (v *validator) orderBy() error {
	for i, k := range v.spec.OrderBy {
		where := fmt.Sprintf("sort key %d", i)
		if err := v.expr(where, k.Column); err != nil {
			return err
		}
		if err := v.family(where, k.Column); err != nil {
			return err
		}
	}
	return nil
}
