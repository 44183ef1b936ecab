package plan

import (
	"slices"
	"strings"
)

// Disabled are the names of rules that a session does without, in order, each
// once, with commas between: a text, so that Options can be compared.
type Disabled string

// Disable returns the set of some names.
func Disable(names ...string) Disabled {
	names = slices.Clone(names)
	slices.Sort(names)
	return Disabled(strings.Join(slices.Compact(names), ", "))
}

// Has reports whether a rule is disabled.
func (d Disabled) Has(rule string) bool { return slices.Contains(strings.Split(string(d), ", "), rule) }

// OptionalRules are the names of the rules that can be disabled: without them a
// plan is slower and as right.
func OptionalRules() []string {
	var names []string
	for _, level := range []Pushdown{PushdownFull, PushdownFilter, PushdownOff} {
		for _, r := range rules(level) {
			if NeededRule(r.Name()) == "" {
				names = append(names, r.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NeededRule is why a rule cannot be disabled, empty for one that can.
func NeededRule(name string) string {
	switch name {
	case planCheck{}.Name():
		return "it finds wrong plans before they run"
	case filterLift{}.Name():
		return "pushdown = 'off' needs it, and whoever disables filter_pushdown"
	case stayReasons{}.Name():
		return "it only writes the reasons of EXPLAIN"
	}
	return ""
}

// rules are those of the rung that the session allows. Where filters are not
// moved, those come out that DuckDB left in a scan, since not every one can be
// pushed, and no more are looked for.
func (o Options) rules() []Rule {
	var out []Rule
	for _, r := range rules(o.Pushdown) {
		switch {
		case r == Rule(impliedFilter{}) && o.Disabled.Has(filterPushdown{}.Name()):
		case !o.Disabled.Has(r.Name()):
			out = append(out, r)
		case r == Rule(filterPushdown{}):
			out = append(out, filterLift{})
		}
	}
	return out
}
