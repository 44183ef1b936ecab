// Package e2e tests the parts together: the direction of imports, and (in
// python/) real clients against real servers.
package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/tributary-db/tributary/"

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	CgoFiles   []string
	Standard   bool
}

func listPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps,CgoFiles,Standard", module+"...").Output()
	require.NoError(t, err)
	packages := map[string]goPackage{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages[p.ImportPath] = p
	}
}

// forbidden says which packages a part must not depend on, even indirectly.
var forbidden = []struct {
	part    string
	not     []string
	because string
}{
	{"pushdown", []string{module + "codec", module + "scanner", module + "server", module + "cmd", "google.golang.org/", "github.com/rs/zerolog", "github.com/prometheus/", "net/http"}, "the specification and its kernels are pure"},
	{"codec", []string{module + "scanner", module + "server", module + "cmd"}, "the wire knows neither end"},
	{"scanner", []string{module + "server", module + "cmd"}, "scanner and server meet in codec only"},
	{"server", []string{module + "scanner", module + "cmd"}, "scanner and server meet in codec only"},
	{"server/plan", []string{module + "server/exec", module + "server/query", module + "server/flightsql", module + "server/engine"}, "the planner is pure"},
	{"server/exec", []string{module + "server/query", module + "server/flightsql"}, "exec knows plans, not statements"},
	{"server/catalog", []string{module + "server/plan", module + "server/exec"}, "everything stands on the catalog"},
}

func TestDirectionOfImports(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	for _, rule := range forbidden {
		for path, p := range packages {
			if path != module+rule.part && !strings.HasPrefix(path, module+rule.part+"/") || strings.HasSuffix(path, "test") {
				continue
			}
			for _, dep := range p.Deps {
				for _, not := range rule.not {
					require.False(t, strings.HasPrefix(dep+"/", strings.TrimSuffix(not, "/")+"/"), "%s depends on %s: %s", path, dep, rule.because)
				}
			}
		}
	}
}

// TestCgoStaysInTwoPackages: only the DuckDB wrappers use cgo, directly or
// through the bindings.
func TestCgoStaysInTwoPackages(t *testing.T) {
	t.Parallel()
	packages := listPackages(t)
	allowed := []string{module + "server/engine", module + "scanner/duckdb"}
	for path, p := range packages {
		if !strings.HasPrefix(path, module) || slices.Contains(allowed, path) {
			continue
		}
		require.Empty(t, p.CgoFiles, path)
		require.NotContains(t, p.Imports, "github.com/duckdb/duckdb-go-bindings", path)
	}
	for _, pure := range []string{"pushdown", "pushdown/run", "codec", "scanner", "scanner/memory", "server/plan"} {
		p, ok := packages[module+pure]
		require.True(t, ok, pure)
		for _, dep := range p.Deps {
			if d := packages[dep]; !d.Standard {
				require.Empty(t, d.CgoFiles, "%s depends on %s, which uses cgo", pure, dep)
			}
		}
	}
}
