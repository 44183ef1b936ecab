package plan

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// TestNarrowLeavesWhatIsSentAsItIs: a scanner that has any column of a scan another
// way than the table, and cannot widen it, is asked for rows and nothing else, also
// by a runtime filter on a column that it has as it should be.
func TestNarrowLeavesWhatIsSentAsItIs(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	filter := pushdown.Compare{Op: pushdown.Equal, Left: pushdown.Column{Name: "a", DataType: arrow.PrimitiveTypes.Int32},
		Right: pushdown.Literal{Value: scalar.NewInt32Scalar(5)}}
	for name, c := range map[string]struct {
		caps  pushdown.Capabilities
		own   string // the scanner's columns
		takes bool
	}{
		"as the table":                {pushdown.AllCapabilities().Without("widen"), "a INTEGER, s VARCHAR, v DOUBLE", true},
		"another column is lacking":   {pushdown.AllCapabilities().Without("widen"), "a INTEGER, v DOUBLE", false},
		"another column is narrower":  {pushdown.AllCapabilities().Without("widen"), "a INTEGER, s VARCHAR, v FLOAT", false},
		"the filter's own is lacking": {pushdown.AllCapabilities().Without("widen"), "s VARCHAR, v DOUBLE", false},
		"it widens":                   {pushdown.AllCapabilities(), "a INTEGER", true},
	} {
		scanner := testScanner("s1", c.caps)
		table := testTable(t, "u", "a INTEGER, s VARCHAR, v DOUBLE", 2, scanner)
		table.Schemas = map[string]catalog.OwnSchema{"s1": {Arrow: fieldsOf(t, c.own)}}
		snap := *env.snap
		snap.Tables = map[string]*catalog.Table{"main.u": table}
		for _, sql := range []string{"SELECT a, s, v FROM u", "SELECT DISTINCT a, s, v FROM u"} {
			p, err := New(env.binder).Plan(t.Context(), sql, &snap, Options{})
			require.NoError(t, err)
			remote := p.Scans[0].Narrow([]pushdown.Expr{filter}).Targets[0].Split.Remote
			require.Equal(t, c.takes, len(remote.Filter) == 1, "%s: %s: %s", name, sql, remote.String())
			require.Empty(t, p.Scans[0].Targets[0].Split.Remote.Filter, "the plan stays")
		}
	}
}
