package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// parse reads a command line without running it.
func parse(t *testing.T, args ...string) (*commands, error) {
	t.Helper()
	var c commands
	parser, err := kong.New(&c, kong.DefaultEnvars("TRIBUTARY"), kong.Exit(func(int) {}))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	return &c, err
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigFile(t *testing.T) {
	path := writeFile(t, "listen: 127.0.0.1:1\nhttp: 127.0.0.1:2\nscanner: [a:1, b:2]\nquery-memory: 512MiB\nrefresh: 5s\n")
	t.Setenv("TRIBUTARY_HTTP", "127.0.0.1:3")
	c, err := parse(t, "coordinator", "--config", path, "--listen", "127.0.0.1:4")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:4", c.Coordinator.Listen, "the command line wins")
	require.Equal(t, "127.0.0.1:3", c.Coordinator.HTTP, "then the environment")
	require.Equal(t, []string{"a:1", "b:2"}, c.Coordinator.Scanner, "then the file")
	require.EqualValues(t, 512<<20, c.Coordinator.QueryMemory)
	require.Equal(t, "5s", c.Coordinator.Refresh.String())
}

func TestConfigErrorsNameTheThing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, command, want string }{
		{"unknown key", "lisen: x", "coordinator", `"lisen"`},
		{"key of another command", "tables: []", "coordinator", `"tables"`},
		{"not yaml", "a: [", "scanner", "config.yaml"},
		{"bad size", "query-memory: much", "coordinator", "much"},
		{"unset variable", "name: ${env:TRIBUTARY_NOT_SET}", "scanner", "TRIBUTARY_NOT_SET"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, c.command, "--config", writeFile(t, c.file))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := parse(t, "coordinator", "--config", "/nowhere.yaml")
	require.ErrorContains(t, err, "/nowhere.yaml")
}

func TestScannerFileTables(t *testing.T) {
	t.Setenv("TRIBUTARY_TEST_DIR", "/data")
	var file scannerFile
	require.NoError(t, decodeConfig(writeFile(t, `
name: s1
tables:
  - name: orders
    partitions:
      - {id: "0", duckdb: {files: ["${env:TRIBUTARY_TEST_DIR}/orders-0.parquet"]}}
      - {id: "1", duckdb: {database: x.duckdb, table: orders_1}}
`), &file, true))
	require.Equal(t, []string{"/data/orders-0.parquet"}, file.Tables[0].Partitions[0].DuckDB.Files)
	require.Equal(t, "orders_1", file.Tables[0].Partitions[1].DuckDB.Table)
	err := decodeConfig(writeFile(t, "tables: [{name: a, partition: []}]"), &file, true)
	require.ErrorContains(t, err, "partition")
}

func TestParseTable(t *testing.T) {
	t.Parallel()
	name, glob, err := parseTable("s.t=" + t.TempDir() + "/*.parquet")
	require.NoError(t, err)
	require.Equal(t, "s.t", name)
	require.True(t, strings.HasSuffix(glob, "/*.parquet"))
	for _, bad := range []string{"t", "=x", "t=", "t=/nowhere/x-*.parquet"} {
		_, _, err := parseTable(bad)
		require.ErrorContains(t, err, bad)
	}
}

func TestByteSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"0": 0, "1000": 1000, "1KiB": 1024, "1.5GiB": 3 << 29, "2gb": 2e9, "7 MB": 7e6} {
		var b byteSize
		require.NoError(t, b.UnmarshalText([]byte(text)), text)
		require.EqualValues(t, want, b, text)
	}
	for _, bad := range []string{"", "-1", "1XB", "GiB", "1 2"} {
		var b byteSize
		require.Error(t, b.UnmarshalText([]byte(bad)), bad)
	}
}
