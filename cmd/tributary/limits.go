package main

import (
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/server"
)

// queryLimits are the options that bound all queries together, and their links.
type queryLimits struct {
	MaxConcurrentQueries int           `help:"Queries that run at once; others wait in turn. 0 is no bound." default:"64"`
	AdmissionTimeout     time.Duration `help:"How long a query waits for its turn, or for DuckDB's memory, before it fails." default:"30s"`
	MaxMemory            byteSize      `help:"What all queries together may hold: DuckDB's memory of each that needs it, and the rows that scanners have sent; 0 is no bound." default:"0"`
	Compression          string        `help:"What scanners may do to the rows they send: auto compresses where the link is the bottleneck." default:"auto" enum:"auto,none,lz4,zstd"`
}

// apply puts the options into cfg.
func (l queryLimits) apply(cfg *server.Config) (err error) {
	cfg.MaxQueries, cfg.AdmissionTimeout, cfg.MaxMemory = l.MaxConcurrentQueries, l.AdmissionTimeout, int64(l.MaxMemory)
	cfg.Compression, err = codec.ParseCompression(l.Compression)
	return err
}
