package exec_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/budget"
	"github.com/tributary-db/tributary/server/exec"
)

// TestOutOfMemoryIsOfOneQuery: a query that cannot get memory fails alone, and
// what it had goes to the next.
func TestOutOfMemoryIsOfOneQuery(t *testing.T) {
	t.Parallel()
	b := budget.New(budget.Config{MaxMemory: 400 << 10})
	f := newFixture(t, exec.Config{Budget: b, ScanWindowBytes: 256 << 10}, newNode(t, "x", behaviour{caps: everything, endless: true}, map[string][][]row{"0": repeated(1, 10_000)}))
	first := f.run(passThrough(f.scan(rows())), exec.Options{BatchBytes: 16 << 10})
	batch, err := first.Next(t.Context())
	require.NoError(t, err)
	batch.Release()
	second, err := f.exec.Run(t.Context(), "q2", passThrough(f.scan(rows())), exec.Options{BatchBytes: 16 << 10})
	require.NoError(t, err)
	_, err = collect(t.Context(), second)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "read of table main.t: out of memory")
	require.NoError(t, second.Close())
	require.Empty(t, f.conns.marked(), "the scanner is not to blame")
	for range 50 {
		batch, err := first.Next(t.Context())
		require.NoError(t, err, "the other query goes on")
		batch.Release()
	}
	require.NoError(t, first.Close())
	third := f.run(passThrough(f.scan(rows())), exec.Options{BatchBytes: 16 << 10})
	batch, err = third.Next(t.Context())
	require.NoError(t, err)
	batch.Release()
	require.NoError(t, third.Close())
	f.idle()
}

// TestAdmission: queries wait for those that run, until a deadline, and the end of
// one lets the next in.
func TestAdmission(t *testing.T) {
	t.Parallel()
	b := budget.New(budget.Config{MaxQueries: 1, Timeout: 50 * time.Millisecond})
	f := newFixture(t, exec.Config{Budget: b}, newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": repeated(1, 5)}))
	p := passThrough(f.scan(rows()))
	held := f.run(p, exec.Options{})
	_, err := f.exec.Run(t.Context(), "late", p, exec.Options{})
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.exec.Run(ctx, "gone", p, exec.Options{})
	require.Equal(t, status.Canceled, status.CodeOf(err))
	require.NoError(t, held.Close())
	again := f.run(p, exec.Options{})
	require.Len(t, all(t, again), 5)
	_, err = again.Next(t.Context())
	require.Equal(t, io.EOF, err)
	require.NoError(t, again.Close())
	f.idle()
}
