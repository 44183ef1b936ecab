package scanner_test

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// TestScanOfWiderColumns: a source that only knows its own columns serves specs
// over wider ones, and over columns that it lacks.
func TestScanOfWiderColumns(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := start(t, mem, table(memTable(t, mem, 30, 10)))
	known := helloTable(t, r.Scanner).SchemaVersion
	require.NotEmpty(t, known)
	wide := pushdown.Column{Name: "id", DataType: &arrow.Decimal128Type{Precision: 21, Scale: 2}}
	lacking := pushdown.Column{Name: "day", DataType: arrow.FixedWidthTypes.Date32}
	scan := func(version string, spec pushdown.Spec) (rows []string, err error) {
		spec.Table, spec.Partitions = "main.t", []string{"0", "1"}
		s, err := r.client().Scan(t.Context(), codec.OpenRequest{ScanID: "s", Spec: spec, Epoch: r.Epoch(), SchemaVersion: version}, mem)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		for {
			b, err := s.Next()
			if errors.Is(err, io.EOF) {
				return rows, nil
			}
			if err != nil {
				return nil, err
			}
			text, err := b.Record.MarshalJSON()
			require.NoError(t, err)
			rows = append(rows, string(text))
			b.Record.Release()
		}
	}
	grouped := pushdown.Spec{
		Limit: pushdown.NoLimit, GroupBy: []pushdown.NamedExpr{{Name: "day", Expr: lacking}},
		Aggregates: []pushdown.Aggregate{{Name: "s", Func: pushdown.Sum, Arg: wide}, {Name: "n", Func: pushdown.Count, Arg: lacking}},
	}
	rows, err := scan(known, grouped)
	require.NoError(t, err)
	require.Equal(t, []string{`[{"day":null,"n":0,"s":"780"}` + "\n]"}, rows)
	rows, err = scan(known, pushdown.Spec{Limit: 2, Columns: []pushdown.Column{lacking}})
	require.NoError(t, err)
	require.Equal(t, []string{`[{"day":null}` + "\n" + `,{"day":null}` + "\n]"}, rows)

	_, err = scan("another version", grouped)
	require.Equal(t, status.Aborted, status.CodeOf(err), "%v", err)
	_, err = scan("", grouped)
	require.Equal(t, status.InvalidArgument, status.CodeOf(err), "who does not know the schema gets no NULLs: %v", err)
	narrow := pushdown.Column{Name: "id", DataType: arrow.PrimitiveTypes.Int32}
	_, err = scan(known, pushdown.Spec{Limit: pushdown.NoLimit, Columns: []pushdown.Column{narrow}})
	require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%v", err)
}
