//go:build deps

package bench

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/apache/arrow-go/v18/arrow/array"
	_ "github.com/apache/arrow-go/v18/arrow/compute"
	_ "github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	_ "github.com/apache/arrow-go/v18/arrow/flight/flightsql/driver"
	_ "github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/duckdb/duckdb-go-bindings"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "github.com/rs/zerolog"
	_ "github.com/stretchr/testify/require"
	_ "github.com/zeebo/xxh3"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "google.golang.org/grpc"
	_ "google.golang.org/grpc/test/bufconn"
	_ "google.golang.org/protobuf/proto"
	_ "gopkg.in/yaml.v3"
	_ "pgregory.net/rapid"
)
