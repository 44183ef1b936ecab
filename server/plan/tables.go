package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// tables are what a statement reads, found without understanding its plan.
type tables struct {
	// federated tables in id order.
	federated []*catalog.Table
	// system is a table function over the planning instance's own catalog.
	system string
}

// tablesRead searches a bound plan's JSON for table scans, at any depth.
func tablesRead(planJSON []byte, snap *catalog.Snapshot) (tables, error) {
	var out tables
	if len(planJSON) == 0 {
		return out, nil
	}
	var tree any
	if err := json.Unmarshal(quoteNonFinite(planJSON), &tree); err != nil {
		return out, status.Wrap(status.Internal, err, "the bound plan is not JSON")
	}
	err := out.search(tree, snap)
	slices.SortFunc(out.federated, func(a, b *catalog.Table) int { return strings.Compare(a.ID(), b.ID()) })
	out.federated = slices.Compact(out.federated)
	return out, err
}

func (t *tables) search(v any, snap *catalog.Snapshot) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := t.search(e, snap); err != nil {
				return err
			}
		}
	case map[string]any:
		if v["type"] == "LOGICAL_GET" {
			if err := t.get(v, snap); err != nil {
				return err
			}
		}
		for _, e := range v {
			if err := t.search(e, snap); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *tables) get(v map[string]any, snap *catalog.Snapshot) error {
	name, _ := v["name"].(string)
	if strings.HasPrefix(name, "duckdb_") || strings.HasPrefix(name, "pragma_") {
		t.system = name
	}
	data, _ := v["function_data"].(map[string]any)
	table, ok := data["table"].(string)
	if name != "seq_scan" || !ok {
		return nil
	}
	schema, _ := data["schema"].(string)
	found := snap.Tables[schema+"."+table]
	if found == nil {
		return status.New(status.NotFound, "table %s.%s does not exist any more", schema, table)
	}
	t.federated = append(t.federated, found)
	return nil
}
