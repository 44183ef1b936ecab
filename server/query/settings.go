package query

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// Settings are a session's settings. The zero value is not valid; start from
// DefaultSettings.
type Settings struct {
	// Pushdown is the highest rung that the planner may use.
	Pushdown plan.Pushdown `json:"pushdown"`
	// BatchBytes is the target size of a batch on the wire, in bytes.
	BatchBytes int64 `json:"batch_bytes"`
	// ScanWindowBytes is what a scanner may have in flight on one stream.
	ScanWindowBytes int64 `json:"scan_window_bytes"`
	// Compression is what scanners may do to what they send: a name of package
	// codec, or empty for what the coordinator was started with.
	Compression string `json:"compression"`
	// StatementTimeout ends a statement; 0 is never.
	StatementTimeout time.Duration `json:"statement_timeout"`
	// Adaptive says whether scans are run first that can narrow others.
	Adaptive adapt.Mode `json:"adaptive"`
	// DisabledRules are rules of the planner and of adaptive execution to do without.
	DisabledRules plan.Disabled `json:"disabled_rules,omitempty"`
	// ResultTypes says which Arrow types results have.
	ResultTypes ResultTypes `json:"result_types"`
	// PartitionedResults says whether a result may have several endpoints.
	PartitionedResults Partitioning `json:"partitioned_results"`
}

// DefaultSettings are the settings for statements from inside the process. A
// session of a client begins with ClientTypes.
func DefaultSettings() Settings {
	return Settings{Pushdown: "full", BatchBytes: 1 << 20, ScanWindowBytes: 16 << 20, Adaptive: adapt.On, ResultTypes: RawTypes, PartitionedResults: Whole}
}

func sessionSettings() Settings {
	s := DefaultSettings()
	s.ResultTypes = ClientTypes
	return s
}

// setting reads and writes one field of Settings as text.
type setting struct {
	get func(*Settings) string
	set func(*Settings, string) error
}

var settings = map[string]setting{
	"pushdown": {
		get: func(s *Settings) string { return string(s.Pushdown) },
		set: func(s *Settings, v string) error {
			s.Pushdown = plan.Pushdown(v)
			return oneOf(v, "full", "filter", "off")
		},
	},
	"batch_bytes": {
		get: func(s *Settings) string { return strconv.FormatInt(s.BatchBytes, 10) },
		set: func(s *Settings, v string) (err error) { s.BatchBytes, err = bytesBetween(v, 1, 64<<20); return },
	},
	"scan_window_bytes": {
		get: func(s *Settings) string { return strconv.FormatInt(s.ScanWindowBytes, 10) },
		set: func(s *Settings, v string) (err error) {
			s.ScanWindowBytes, err = bytesBetween(v, 64<<10, 1<<30)
			return
		},
	},
	"compression": {
		get: func(s *Settings) string { return cmp.Or(s.Compression, defaultCompression) },
		set: func(s *Settings, v string) error {
			if s.Compression = strings.ToLower(v); s.Compression == defaultCompression {
				s.Compression = ""
				return nil
			}
			return oneOf(s.Compression, codec.Compressions()...)
		},
	},
	"statement_timeout": {
		get: func(s *Settings) string { return s.StatementTimeout.String() },
		set: func(s *Settings, v string) (err error) { s.StatementTimeout, err = parseTimeout(v); return },
	},
	"result_types": {
		get: func(s *Settings) string { return string(s.ResultTypes) },
		set: func(s *Settings, v string) error {
			s.ResultTypes = ResultTypes(strings.ToLower(v))
			return oneOf(string(s.ResultTypes), string(ClientTypes), string(RawTypes))
		},
	},
	"partitioned_results": {
		get: func(s *Settings) string { return string(s.PartitionedResults) },
		set: func(s *Settings, v string) (err error) { s.PartitionedResults, err = parsePartitioning(v); return },
	},
	"adaptive": {
		get: func(s *Settings) string { return string(s.Adaptive) },
		set: func(s *Settings, v string) error {
			s.Adaptive = adapt.Mode(strings.ToLower(v))
			return oneOf(string(s.Adaptive), string(adapt.On), string(adapt.Off), string(adapt.Always), string(adapt.Late))
		},
	},
	"disabled_rules": {
		get: func(s *Settings) string { return string(s.DisabledRules) },
		set: func(s *Settings, v string) (err error) { s.DisabledRules, err = parseDisabledRules(v); return },
	},
	"exchange":        fixed("coordinator"),
	"partial_results": fixed("off"),
	"catalog":         fixed(CatalogName),
	"schema":          fixed("main"),
	"timezone":        fixed("UTC"),
}

// defaultCompression is the one that the coordinator was started with.
const defaultCompression = "default"

// compression is the override for a query, nil for none.
func (s *Settings) compression() *codec.Compression {
	c, err := codec.ParseCompression(s.Compression)
	if err != nil {
		return nil // empty
	}
	return &c
}

// CatalogName is the name of the one catalog that clients see.
const CatalogName = "tributary"

// fixed is a setting that has one legal value in this version: clients may
// read it and set it to what it is.
func fixed(value string) setting {
	return setting{
		get: func(*Settings) string { return value },
		set: func(_ *Settings, v string) error {
			if strings.EqualFold(v, value) {
				return nil
			}
			return status.New(status.Unimplemented, "the only supported value is %q, not %q", value, v)
		},
	}
}

// Get returns the value of a setting as text.
func (s *Settings) Get(name string) (string, error) {
	def, ok := settings[strings.ToLower(name)]
	if !ok {
		return "", unknownSetting(name)
	}
	return def.get(s), nil
}

// Set changes a setting from text.
func (s *Settings) Set(name, value string) error {
	def, ok := settings[strings.ToLower(name)]
	if !ok {
		return unknownSetting(name)
	}
	changed := *s
	if err := def.set(&changed, strings.TrimSpace(value)); err != nil {
		return status.Wrap(status.InvalidArgument, err, "cannot set %s", strings.ToLower(name))
	}
	*s = changed
	return nil
}

// Reset restores the default of a setting; an empty name or "all" resets all.
func (s *Settings) Reset(name string) error {
	if name == "" || strings.EqualFold(name, "all") {
		*s = sessionSettings()
		return nil
	}
	defaults := sessionSettings()
	value, err := defaults.Get(name)
	if err != nil {
		return err
	}
	return s.Set(name, value)
}

// SettingNames returns the names of all settings in order.
func SettingNames() []string { return slices.Sorted(maps.Keys(settings)) }

func unknownSetting(name string) error {
	return status.New(status.InvalidArgument, "there is no setting %q; the settings are %s", name, strings.Join(SettingNames(), ", "))
}

func oneOf(v string, allowed ...string) error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return status.New(status.InvalidArgument, "%q is not one of %s", v, strings.Join(allowed, ", "))
}

func bytesBetween(v string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < low || n > high {
		return 0, status.New(status.InvalidArgument, "%q is not a number of bytes from %d to %d", v, low, high)
	}
	return n, nil
}

// parseTimeout takes a Go duration or, as PostgreSQL does, milliseconds.
func parseTimeout(v string) (time.Duration, error) {
	if ms, err := strconv.ParseInt(v, 10, 32); err == nil && ms >= 0 {
		return time.Duration(ms) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, status.New(status.InvalidArgument, "%q is not a duration such as 30s, or milliseconds", v)
	}
	return d, nil
}
