package query

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
)

func TestSettingsSetGetReset(t *testing.T) {
	t.Parallel()
	s := NewSession()
	require.NoError(t, s.Set("pushdown", "off"))
	require.NoError(t, s.Set("STATEMENT_TIMEOUT", "1500"))
	require.NoError(t, s.Set("adaptive", "off"))
	for value, want := range map[string]Partitioning{"on": ByScanner, "TRUE": ByScanner, "Scanner": ByScanner, "partition": ByPartition, "off": Whole, "false": Whole} {
		require.NoError(t, s.Set("partitioned_results", value))
		require.Equal(t, want, s.Settings().PartitionedResults)
	}
	set := s.Settings()
	require.EqualValues(t, "off", set.Pushdown)
	require.Equal(t, 1500*time.Millisecond, set.StatementTimeout)
	require.NoError(t, s.Reset("pushdown"))
	require.EqualValues(t, "full", s.Settings().Pushdown)
	require.NoError(t, s.Reset("all"))
	require.Equal(t, NewSession().Settings(), s.Settings())
}

func TestSettingsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		code        status.Code
	}{
		{"pushdown", "maybe", status.InvalidArgument},
		{"batch_bytes", "0", status.InvalidArgument},
		{"scan_window_bytes", "lots", status.InvalidArgument},
		{"statement_timeout", "-1s", status.InvalidArgument},
		{"result_types", "wrong", status.InvalidArgument},
		{"partitioned_results", "many", status.InvalidArgument},
		{"compression", "rar", status.InvalidArgument},
		{"adaptive", "perhaps", status.InvalidArgument},
		{"disabled_rules", "check", status.InvalidArgument},
		{"memory_limit", "1GB", status.InvalidArgument},
		{"enable_external_access", "true", status.InvalidArgument},
	} {
		s := NewSession()
		err := s.Set(c.name, c.value)
		require.Equal(t, c.code, status.CodeOf(err), "%s: %v", c.name, err)
		require.ErrorContains(t, err, c.name)
		require.Equal(t, NewSession().Settings(), s.Settings())
	}
}

func TestCompressionSetting(t *testing.T) {
	t.Parallel()
	s := DefaultSettings()
	require.Nil(t, s.compression(), "the coordinator's")
	require.NoError(t, s.Set("compression", "LZ4"))
	require.Equal(t, codec.CompressLZ4, *s.compression())
	require.NoError(t, s.Set("compression", "none"))
	require.Equal(t, codec.CompressNone, *s.compression())
	require.NoError(t, s.Reset("compression"))
	require.Nil(t, s.compression())
	value, err := s.Get("compression")
	require.NoError(t, err)
	require.Equal(t, "default", value)
}

func TestEverySettingReadsItsDefault(t *testing.T) {
	t.Parallel()
	for _, name := range SettingNames() {
		s := DefaultSettings()
		value, err := s.Get(name)
		require.NoError(t, err)
		require.NoError(t, s.Set(name, value), name)
		require.Equal(t, DefaultSettings(), s)
	}
}
