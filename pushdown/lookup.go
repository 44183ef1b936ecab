package pushdown

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// MaxLookups bounds the lookups of a spec.
const MaxLookups = 16

// Lookup is an inner join of the rows of a partial aggregate with a relation that
// travels with the scan: a row goes on once for each row of the relation whose
// values are equal to its keys, and has that row's columns besides. NULL equals
// nothing.
//
// Conjuncts of the filter that read only the table come before the lookups; those
// that read a lookup's column come after all of them, as the group keys and the
// aggregates do.
type Lookup struct {
	// Keys are computed of each row, of its columns and those of earlier lookups.
	// They cannot fail, and are no floats.
	Keys []Expr
	// Columns are the relation's, by names that no other column has.
	Columns []Column
	// On are the positions in Columns of what Keys are compared with.
	On []int
	// Relation has the rows, under any names; nil is none.
	Relation *Relation
}

// Joined is the schema of the rows after all lookups of s.
func (s *Spec) Joined(table *arrow.Schema) *arrow.Schema {
	fields := slices.Clone(table.Fields())
	for _, l := range s.Lookups {
		for _, c := range l.Columns {
			fields = append(fields, c.Field())
		}
	}
	return arrow.NewSchema(fields, nil)
}

// FilterParts divides the filter of s into what comes before its lookups and what
// comes after them.
func (s *Spec) FilterParts() (before, after []Expr) {
	if len(s.Lookups) == 0 {
		return s.Filter, nil
	}
	found := s.found()
	for _, e := range s.Filter {
		if reads(e, found) {
			after = append(after, e)
		} else {
			before = append(before, e)
		}
	}
	return before, after
}

// found are the names of the lookups' columns.
func (s *Spec) found() map[string]bool {
	out := map[string]bool{}
	for _, l := range s.Lookups {
		for _, c := range l.Columns {
			out[c.Name] = true
		}
	}
	return out
}

func reads(e Expr, names map[string]bool) bool {
	any := false
	Walk(e, func(e Expr) bool {
		c, ok := e.(Column)
		any = any || ok && names[c.Name]
		return !any
	})
	return any
}

// requiredByLookups are the capabilities for the lookups and what of the filter
// follows them.
func (s *Spec) requiredByLookups() []Capability {
	if len(s.Lookups) == 0 {
		return nil
	}
	need := []Capability{CapLookup}
	for _, l := range s.Lookups {
		for _, k := range l.Keys {
			need = append(need, requiredByExpr(k)...)
		}
	}
	_, after := s.FilterParts()
	for _, e := range after {
		need = append(need, requiredByFilter(e)...)
	}
	return need
}

// lookups checks the lookups, and makes their columns known to what follows.
func (v *validator) lookups() error {
	if len(v.spec.Lookups) == 0 {
		return nil
	}
	if !v.spec.Grouped() {
		return v.fail("only aggregates have lookups")
	}
	if len(v.spec.Lookups) > MaxLookups {
		return v.fail("more than %d lookups", MaxLookups)
	}
	for i := range v.spec.Lookups {
		if err := v.lookup(fmt.Sprintf("lookup %d", i), &v.spec.Lookups[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) lookup(where string, l *Lookup) error {
	if len(l.Keys) == 0 || len(l.Keys) != len(l.On) {
		return v.fail("%s: %d keys for %d columns", where, len(l.Keys), len(l.On))
	}
	if err := v.relation(where, l); err != nil {
		return err
	}
	for i, k := range l.Keys {
		if err := v.expr(where, k); err != nil {
			return err
		}
		if err := checkKey(k, l, l.On[i]); err != nil {
			return v.fail("%s: %s", where, err)
		}
	}
	for _, c := range l.Columns {
		if _, twice := v.types[c.Name]; twice {
			return v.fail("%s: there are two columns named %q", where, c.Name)
		}
		v.types[c.Name] = c.DataType
	}
	return nil
}

// relation checks that the rows are of the declared types.
func (v *validator) relation(where string, l *Lookup) error {
	if len(l.Columns) > MaxColumns {
		return v.fail("%s: more than %d columns", where, MaxColumns)
	}
	for i, c := range l.Columns {
		if c.DataType == nil || isDictionary(c.DataType) {
			return v.fail("%s: column %q has no plain type", where, c.Name)
		}
		if _, ok := FamilyOf(c.DataType); !ok {
			return v.fail("%s: column %q is %s", where, c.Name, typeText(c.DataType))
		}
		if l.Relation == nil {
			continue
		}
		if rows := l.Relation.rows; int(rows.NumCols()) != len(l.Columns) || !arrow.TypeEqual(rows.Column(i).DataType(), c.DataType) {
			return v.fail("%s: the relation has not the declared columns", where)
		}
	}
	return nil
}

func checkKey(k Expr, l *Lookup, on int) error {
	if on < 0 || on >= len(l.Columns) {
		return status.New(status.InvalidArgument, "no column %d", on)
	}
	switch f, _ := FamilyOf(k.Type()); {
	case !arrow.TypeEqual(ValueType(k.Type()), l.Columns[on].DataType):
		return status.New(status.InvalidArgument, "a key of type %s is compared with %s", typeText(k.Type()), typeText(l.Columns[on].DataType))
	case f == FamilyFloat || f == "":
		return status.New(status.InvalidArgument, "%s is no key", typeText(k.Type()))
	case !Infallible(k):
		return status.New(status.InvalidArgument, "the key %s can fail", ExprString(k))
	}
	return nil
}

func (p *printer) lookups(all []Lookup) {
	for _, l := range all {
		p.WriteString(" lookup (")
		p.matches(&l)
		p.WriteString(") in ")
		p.relation(l.Relation)
		p.columns(l.Columns)
	}
}

func (p *printer) matches(l *Lookup) {
	for i, k := range l.Keys {
		p.comma(i)
		p.expr(k)
		p.WriteString(" = ")
		if i < len(l.On) {
			p.name(l.name(l.On[i]))
		}
	}
}

// String is what is compared, for people.
func (l *Lookup) String() string {
	var p printer
	p.matches(l)
	return p.String()
}

func (l *Lookup) name(i int) string {
	if i < 0 || i >= len(l.Columns) {
		return "?"
	}
	return l.Columns[i].Name
}

func (p *printer) relation(r *Relation) {
	switch {
	case r == nil:
		p.WriteString("nothing")
	case p.exact:
		p.WriteString(strconv.FormatInt(r.rows.NumRows(), 10) + "#" + strconv.FormatUint(r.sum, 16))
	default:
		p.WriteString(strconv.FormatInt(r.rows.NumRows(), 10) + " rows")
	}
}
