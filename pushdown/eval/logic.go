package eval

// conjunction is AND, or OR when disjunction is set. Arguments that can fail
// come last and run only on the rows that the others leave open.
type conjunction struct {
	disjunction bool
	safe, risky []node
	open        []uint64
	part        truth
	sub         subset
	out         truth
}

func (c *conjunction) eval(f *frame) (vec, error) {
	c.out.resize(f.n)
	c.neutral(f.n)
	for _, arg := range c.safe {
		b, err := evalTruth(arg, f)
		if err != nil {
			return nil, err
		}
		c.merge(b)
	}
	for _, arg := range c.risky {
		if err := c.sub.truth(arg, f, c.undecided(f.n), &c.part); err != nil {
			return nil, err
		}
		c.mergeOpen()
	}
	return &c.out, nil
}

// neutral starts with all true for AND, all false for OR.
func (c *conjunction) neutral(n int) {
	on, off := c.out.yes, c.out.no
	if c.disjunction {
		on, off = off, on
	}
	fill(on, n)
	clear(off)
}

func (c *conjunction) merge(b *truth) {
	yes, no := c.out.yes, c.out.no
	if c.disjunction {
		for i := range yes {
			yes[i] |= b.yes[i]
			no[i] &= b.no[i]
		}
		return
	}
	for i := range yes {
		yes[i] &= b.yes[i]
		no[i] |= b.no[i]
	}
}

func (c *conjunction) undecided(n int) []uint64 {
	decided := c.out.no
	if c.disjunction {
		decided = c.out.yes
	}
	c.open = resize(c.open, len(decided))
	for i, w := range decided {
		c.open[i] = ^w
	}
	maskTail(c.open, n)
	return c.open
}

// mergeOpen merges c.part, which knows only the rows of c.open.
func (c *conjunction) mergeOpen() {
	for i, open := range c.open {
		if c.disjunction {
			c.part.no[i] |= ^open
		} else {
			c.part.yes[i] |= ^open
		}
	}
	c.merge(&c.part)
}

// negation is NOT.
type negation struct {
	arg node
	out truth
}

func (n *negation) eval(f *frame) (vec, error) {
	b, err := evalTruth(n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.yes, n.out.no = b.no, b.yes
	return &n.out, nil
}

// nullTest is IS [NOT] NULL.
type nullTest struct {
	arg     node
	negated bool
	out     truth
}

func (t *nullTest) eval(f *frame) (vec, error) {
	v, err := t.arg.eval(f)
	if err != nil {
		return nil, err
	}
	t.out.resize(f.n)
	null, present := t.out.yes, t.out.no
	if t.negated {
		null, present = present, null
	}
	valid := v.validity()
	for i := range null {
		w := ^uint64(0)
		if valid != nil {
			w = valid[i]
		}
		null[i], present[i] = ^w, w
	}
	return &t.out, nil
}
