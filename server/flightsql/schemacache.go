package flightsql

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/query"
)

// schemaCache keeps the encoded schemas of tables: clients ask for those of all
// tables, again and again, and encoding one takes longer than all else.
type schemaCache struct {
	mu    sync.Mutex
	known map[schemaKey]encodedSchema
}

type schemaKey struct {
	table string
	types query.ResultTypes
}

type encodedSchema struct {
	of  *arrow.Schema
	raw []byte
}

// warmStep is how many schemas are encoded while requests wait.
const warmStep = 64

// KeepWarm encodes the schemas of all tables whenever they change, until ctx
// ends, so that no client waits for it.
func (s *Server) KeepWarm(ctx context.Context) {
	for {
		changed := s.service.Catalog().Changed()
		snap := s.service.Catalog().Snapshot()
		all := slices.Collect(maps.Values(snap.Tables))
		for tables := range slices.Chunk(all, warmStep) {
			if ctx.Err() != nil {
				return
			}
			s.schemas.schemas(tables, len(all), query.ClientTypes, s.Alloc)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// schemas encodes the schemas of SELECT * FROM t for some of all tables, as
// encapsulated messages.
func (c *schemaCache) schemas(tables []*catalog.Table, all int, types query.ResultTypes, mem memory.Allocator) [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > 4*all+1024 { // tables that are gone leave at some time
		c.known = nil
	}
	if c.known == nil {
		c.known = map[schemaKey]encodedSchema{}
	}
	out := make([][]byte, len(tables))
	for i, t := range tables {
		key := schemaKey{t.ID(), types}
		have, ok := c.known[key]
		if !ok || !sameSchema(have.of, t.Arrow) {
			have = encodedSchema{of: t.Arrow, raw: flight.SerializeSchema(clientSchema(t, types), mem)}
			c.known[key] = have
		}
		out[i] = have.raw
	}
	return out
}

func sameSchema(a, b *arrow.Schema) bool {
	return a == b || a != nil && b != nil && a.Equal(b)
}
