package plan

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var randomPlans = flag.Int("random.plans", 600, "plans that TestRulesAreIdempotentOnRandomPlans takes")

// TestRulesAreIdempotentOnRandomPlans: over random statements as they are bound,
// and random trees, each rule and each list of rules, whatever is disabled, changes
// nothing the second time.
func TestRulesAreIdempotentOnRandomPlans(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	statements := rapid.OneOf(rapid.Custom(randomStatement), rapid.Custom(randomStatement), rapid.Custom(randomJoinedAggregate))
	trees := rapid.Custom(func(rt *rapid.T) Node { return (&treeGen{T: rt, snap: env}).node(3) })
	options := rapid.Custom(func(rt *rapid.T) Options {
		o := Options{Pushdown: rapid.SampledFrom(append(levels(), PushdownFull, PushdownFull)).Draw(rt, "level")}
		if rapid.Bool().Draw(rt, "without some") {
			o.Disabled = Disable(rapid.SliceOf(rapid.SampledFrom(OptionalRules())).Draw(rt, "disabled")...)
		}
		return o
	})
	fired := map[string]int{}
	for i := range *randomPlans {
		root, text := trees.Example(i), ""
		if i%2 == 0 {
			text = statements.Example(i)
			root = env.bind(t, text)
		}
		o := options.Example(-1 - i) // not the draws of the plan
		text = fmt.Sprintf("%d: %+v %s\n%s", i, o, text, Print(root))
		requireIdempotent(t, root, o.rules(), text)
		_, names, err := applyRules(root, o.rules())
		require.NoError(t, err, text)
		for _, name := range names {
			fired[name]++
		}
	}
	t.Logf("%d plans, rules that changed one: %v", *randomPlans, fired)
	for _, name := range append(OptionalRules(), "filter_lift") {
		if *randomPlans >= 600 {
			require.Positive(t, fired[name], name)
		}
	}
}
