package pushdown

import (
	"strconv"
)

func (p *printer) spec(s *Spec) {
	p.WriteString("scan ")
	p.name(s.Table)
	p.partitions(s.Partitions)
	p.columns(s.Columns)
	p.where(s.Filter)
	p.lookups(s.Lookups)
	p.groupBy(s.GroupBy)
	p.aggregates(s.Aggregates)
	p.orderBy(s.OrderBy)
	p.limit(s.Limit)
	p.reduction(s.Reduce)
}

func (p *printer) where(filter []Expr) {
	if p.filter == nil {
		if len(filter) > 0 {
			p.list(" where ", " and ", "", filter)
		}
		return
	}
	for i, k := range p.filter {
		if i == 0 {
			p.WriteString(" where " + k.text)
		} else {
			p.WriteString(" and " + k.text)
		}
	}
}

func (p *printer) limit(n int64) {
	if n != NoLimit {
		p.WriteString(" limit " + strconv.FormatInt(n, 10))
	}
}

func (p *printer) partitions(ids []string) {
	if len(ids) > maxShown && !p.exact {
		p.WriteString(" [" + strconv.Itoa(len(ids)) + " partitions]")
		return
	}
	p.WriteString(" [")
	for i, id := range ids {
		p.comma(i)
		p.name(id)
	}
	p.WriteByte(']')
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.WriteString(", ")
	}
}

func (p *printer) columns(cols []Column) {
	if len(cols) == 0 {
		return
	}
	p.WriteString(" columns (")
	for i, c := range cols {
		p.comma(i)
		p.expr(c)
	}
	p.WriteByte(')')
}

func (p *printer) groupBy(keys []NamedExpr) {
	if len(keys) == 0 {
		return
	}
	p.WriteString(" group by (")
	for i, k := range keys {
		p.comma(i)
		p.named(k.Name, k.Expr)
	}
	p.WriteByte(')')
}

// named prints an output column; for people a column that keeps its name needs
// no second mention.
func (p *printer) named(name string, e Expr) {
	if c, ok := e.(Column); !ok || c.Name != name || p.exact {
		p.name(name)
		p.WriteString(" = ")
	}
	p.expr(e)
}

func (p *printer) aggregates(aggs []Aggregate) {
	if len(aggs) == 0 {
		return
	}
	p.WriteString(" aggregate (")
	for i, a := range aggs {
		p.comma(i)
		p.aggregate(a)
	}
	p.WriteByte(')')
}

func (p *printer) aggregate(a Aggregate) {
	p.name(a.Name)
	p.WriteString(" = " + a.Func.String() + "(")
	if a.Func == CountStar {
		p.WriteByte('*')
	}
	if a.Arg != nil {
		p.expr(a.Arg)
	}
	p.WriteByte(')')
	if a.Filter != nil {
		p.list(" filter (", "", ")", []Expr{a.Filter})
	}
}

func (p *printer) orderBy(keys []SortKey) {
	if len(keys) == 0 {
		return
	}
	p.WriteString(" order by ")
	for i, k := range keys {
		p.comma(i)
		p.expr(k.Column)
		if k.Descending {
			p.WriteString(" desc")
		}
		if k.NullsFirst {
			p.WriteString(" nulls first")
		}
	}
}
