package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"

	"github.com/tributary-db/tributary/pushdown/status"
)

// common are the options of the servers.
type common struct {
	Config    configFile `help:"YAML file with the same names as the flags; flags and TRIBUTARY_… variables win." placeholder:"FILE"`
	LogLevel  string     `help:"debug, info, warn or error." default:"info" enum:"debug,info,warn,error"`
	LogFormat string     `help:"json or console." default:"json" enum:"json,console"`
}

// configFile is the path of a YAML file whose keys are the flags' names.
type configFile string

// structuredKeys are keys of a file that no flag has.
var structuredKeys = map[string][]string{"scanner": {"tables"}}

// BeforeResolve reads the file and offers its values to the flags that were
// given neither on the command line nor in the environment.
func (c configFile) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFile))
	values, err := readConfig(path)
	if err != nil {
		return err
	}
	if err := checkKeys(path, values, ctx.Selected()); err != nil {
		return err
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range flag.Envs {
			if _, set := os.LookupEnv(name); set {
				return nil, nil
			}
		}
		return values[flag.Name], nil
	}))
	return nil
}

func checkKeys(path string, values map[string]any, command *kong.Node) error {
	known := slices.Clone(structuredKeys[command.Name])
	for _, group := range command.AllFlags(true) {
		for _, flag := range group {
			known = append(known, flag.Name)
		}
	}
	slices.Sort(known)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, key) {
			return status.New(status.InvalidArgument, "%s: there is no setting %q; the settings of %s are %s", path, key, command.Name, strings.Join(known, ", "))
		}
	}
	return nil
}

func readConfig(path string) (map[string]any, error) {
	values := map[string]any{}
	return values, decodeConfig(path, &values, false)
}

// decodeConfig reads the YAML file at path into out after expanding ${env:X}.
func decodeConfig(path string, out any, strict bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return status.Wrap(status.NotFound, err, "cannot read the configuration")
	}
	text, err = expandEnv(text)
	if err != nil {
		return status.Wrap(status.InvalidArgument, err, "%s", path)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(strict)
	if err := dec.Decode(out); err != nil && !errors.Is(err, io.EOF) {
		return status.Wrap(status.InvalidArgument, err, "%s", path)
	}
	return nil
}

var envReference = regexp.MustCompile(`\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

func expandEnv(text []byte) ([]byte, error) {
	var missing []string
	out := envReference.ReplaceAllFunc(text, func(ref []byte) []byte {
		name := string(envReference.FindSubmatch(ref)[1])
		value, ok := os.LookupEnv(name)
		if !ok {
			missing = append(missing, name)
		}
		return []byte(value)
	})
	if len(missing) > 0 {
		return nil, status.New(status.InvalidArgument, "environment variables are not set: %s", strings.Join(missing, ", "))
	}
	return out, nil
}

// byteSize is a number of bytes with an optional unit: 512MiB, 2GB, 1000.
type byteSize int64

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KIB", 1 << 10}, {"MIB", 1 << 20}, {"GIB", 1 << 30}, {"TIB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
}

// UnmarshalText reads a size such as 512MiB.
func (b *byteSize) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		var n float64
		if _, err := fmt.Sscanf(strings.TrimSpace(number)+"\n", "%g\n", &n); err != nil || n < 0 {
			break
		}
		*b = byteSize(n * float64(u.factor))
		return nil
	}
	return status.New(status.InvalidArgument, "%q is not a size such as 512MiB or 2GB", text)
}
