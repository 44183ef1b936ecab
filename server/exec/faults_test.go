package exec_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec/codectest"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/exec"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		does behaviour
		down bool
		code status.Code
		want string
	}{
		"at the start":      {does: behaviour{failWith: errBroken}, code: status.DataLoss, want: "the file is broken"},
		"in the middle":     {does: behaviour{failWith: errBroken, failAt: 3}, code: status.DataLoss, want: "the file is broken"},
		"query's own fault": {does: behaviour{failWith: status.New(status.OutOfRange, "overflow"), failAt: 2}, code: status.OutOfRange, want: "overflow"},
		"stale epoch":       {does: behaviour{openEpoch: "other"}, code: status.Aborted, want: "restarted"},
		"gave up":           {does: behaviour{failWith: status.New(status.Canceled, "shutting down"), failAt: 2}, code: status.Unavailable, want: "shutting down"},
		"down":              {down: true, code: status.Unavailable, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := newNode(t, "good", behaviour{caps: everything, endless: true}, map[string][][]row{"0": repeated(1, 10)})
			tc.does.caps = everything
			bad := newNode(t, "bad", tc.does, map[string][][]row{"7": repeated(4, 10), "8": {}})
			if tc.down {
				bad.server.Stop()
			}
			f := newFixture(t, exec.Config{}, good, bad)
			stream := f.run(passThrough(f.scan(rows())), exec.Options{})
			_, err := collect(t.Context(), stream)
			require.Equal(t, tc.code, status.CodeOf(err), "%v", err)
			for _, part := range []string{tc.want, `"bad"`, bad.addr, "main.t", "7, 8"} {
				require.ErrorContains(t, err, part)
			}
			_, again := stream.Next(t.Context())
			require.Equal(t, err, again, "a failed query stays failed")
			f.idle()
			if tc.code != status.OutOfRange {
				require.Equal(t, []string{"bad"}, f.conns.marked())
			}
		})
	}
}

func TestUnreachableOwnerFailsTheQuery(t *testing.T) {
	t.Parallel()
	n := newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": repeated(1, 10)})
	n.scanner.Err = errGone
	f := newFixture(t, exec.Config{}, n)
	_, err := collect(t.Context(), f.run(passThrough(f.scan(rows())), exec.Options{}))
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.ErrorContains(t, err, `"x"`)
	require.Empty(t, n.requests())
}

func TestReplicaTakesOver(t *testing.T) {
	t.Parallel()
	parts := map[string][][]row{"0": repeated(2, 10), "1": repeated(1, 3)}
	for name, tc := range map[string]struct {
		fails behaviour
		ok    bool
	}{
		"before the first batch": {behaviour{caps: everything, failWith: errGone}, true},
		"after a batch":          {behaviour{caps: everything, failWith: errGone, failAt: 2}, false},
		"own fault":              {behaviour{caps: everything, failWith: status.New(status.InvalidArgument, "no")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, exec.Config{}, newNode(t, "x", tc.fails, parts),
				newNode(t, "y", behaviour{}, map[string][][]row{"0": parts["0"]}),
				newNode(t, "z", behaviour{caps: everything}, map[string][][]row{"1": parts["1"]}))
			stream := f.run(passThrough(f.scan(rows())), exec.Options{})
			got, err := collect(t.Context(), stream)
			if !tc.ok {
				require.Error(t, err)
				require.Empty(t, f.nodes[1].requests())
				return
			}
			require.NoError(t, err)
			require.Len(t, got, 23)
			require.Equal(t, 1, stream.Stats().Scans[0].Targets[0].Retries)
			require.Equal(t, []string{"x"}, f.conns.marked())
			require.Positive(t, f.metric("fallbacks_total"))
		})
	}
}

func TestReplicasFailToo(t *testing.T) {
	t.Parallel()
	parts := map[string][][]row{"0": repeated(2, 10)}
	fails := behaviour{caps: everything, failWith: errGone}
	f := newFixture(t, exec.Config{}, newNode(t, "x", fails, parts), newNode(t, "y", fails, parts))
	_, err := collect(t.Context(), f.run(passThrough(f.scan(rows())), exec.Options{}))
	require.ErrorContains(t, err, `"y"`)
	require.Len(t, f.nodes[0].requests(), 1)
}

func TestCancelStopsScanners(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]behaviour{
		"sending": {caps: everything, endless: true},
		"stalled": {caps: everything, stall: true},
		"kernels": {endless: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, exec.Config{}, newNode(t, "x", does, map[string][][]row{"0": repeated(1, 100)}))
			spec := sums()
			if name == "sending" {
				spec = rows()
			}
			ctx, cancel := context.WithCancel(t.Context())
			stream, err := f.exec.Run(ctx, "q", passThrough(f.scan(spec)), exec.Options{})
			require.NoError(t, err)
			soon(t, "the scan runs", func() bool { return f.nodes[0].active.Load() == 1 })
			cancel()
			_, err = collect(t.Context(), stream)
			require.Equal(t, status.Canceled, status.CodeOf(err))
			f.idle()
			require.NoError(t, stream.Close())
			require.Zero(t, f.metric("inflight_bytes"))
		})
	}
}

func TestDeadlineOfTheQuery(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{}, newNode(t, "x", behaviour{caps: everything, stall: true}, map[string][][]row{"0": {}}))
	why := status.New(status.DeadlineExceeded, "statement_timeout")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, why)
	defer cancel()
	stream, err := f.exec.Run(ctx, "q", passThrough(f.scan(rows())), exec.Options{})
	require.NoError(t, err)
	_, err = collect(t.Context(), stream)
	require.Equal(t, error(why), err)
	require.NoError(t, stream.Close())
}

func TestEarlyCloseStopsScanners(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{}, newNode(t, "x", behaviour{caps: everything, endless: true}, map[string][][]row{"0": repeated(1, 100)}))
	stream := f.run(passThrough(f.scan(rows())), exec.Options{})
	batch, err := stream.Next(t.Context())
	require.NoError(t, err)
	batch.Release()
	begun := time.Now()
	require.NoError(t, stream.Close())
	f.idle()
	require.Less(t, time.Since(begun), time.Second)
	_, err = stream.Next(t.Context())
	require.Equal(t, status.Canceled, status.CodeOf(err))
}

func TestOneCallGivenUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{}, newNode(t, "x", behaviour{caps: everything, stall: true}, map[string][][]row{"0": {}}))
	stream := f.run(passThrough(f.scan(rows())), exec.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := stream.Next(ctx)
	require.Equal(t, status.DeadlineExceeded, status.CodeOf(err))
}

func TestSlowConsumerBoundsMemory(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]behaviour{
		"pass-through": {caps: everything, endless: true},
		"kernels":      {endless: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const window = 256 << 10
			f := newFixture(t, exec.Config{ScanWindowBytes: window}, newNode(t, "x", does, map[string][][]row{"0": repeated(1, 10_000)}))
			spec := rows()
			if name == "kernels" {
				spec.Filter = append(spec.Filter, atLeast(0))
			}
			stream := f.run(passThrough(f.scan(spec)), exec.Options{BatchBytes: 32 << 10})
			const rowBytes = 9
			limit := float64(2*window + 128<<10)
			consumed := int64(0)
			for range 30 {
				batch, err := stream.Next(t.Context())
				require.NoError(t, err)
				consumed += batch.NumRows()
				batch.Release()
				time.Sleep(5 * time.Millisecond)
				require.LessOrEqual(t, f.metric("inflight_bytes"), limit)
			}
			ahead := (f.nodes[0].sent.Load() - consumed) * rowBytes
			require.LessOrEqual(t, float64(ahead), 2*limit)
			soon(t, "it reads ahead", func() bool { return f.metric("inflight_bytes") > 0 })
		})
	}
}

// TestDamagedStreamsNeverLookComplete damages the stream at every message.
func TestDamagedStreamsNeverLookComplete(t *testing.T) {
	t.Parallel()
	parts := map[string][][]row{"0": repeated(3, 10)}
	for name, kind := range map[string]codectest.Kind{
		"cut": codectest.Cut, "lose": codectest.Lose, "skip": codectest.Skip, "duplicate": codectest.Duplicate,
		"truncate": codectest.Truncate, "corrupt": codectest.Corrupt, "schema": codectest.WrongSchema,
		"hash": codectest.WrongHash, "epoch": codectest.StaleEpoch, "counts": codectest.WrongCounts,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := range 6 { // the echo, a dictionary, three batches, End
				f := newFixture(t, exec.Config{}, newNode(t, "bad", behaviour{caps: everything, fault: codectest.Fault{Kind: kind, At: at}}, parts))
				stream := f.run(passThrough(f.scan(rows())), exec.Options{})
				got, err := collect(t.Context(), stream)
				if err == nil {
					// Nothing has a body to damage after the last batch.
					require.Contains(t, []codectest.Kind{codectest.Truncate, codectest.Corrupt}, kind)
					require.Equal(t, 5, at)
					require.Len(t, got, 30)
					continue
				}
				require.ErrorContains(t, err, `"bad"`, "at %d", at)
				require.Contains(t, []status.Code{status.DataLoss, status.Unavailable, status.Aborted}, status.CodeOf(err), "%v", err)
				f.idle()
			}
		})
	}
}

// TestReplicaReadsWhatWasPruned: the scanner that could tell whether statistics
// still hold is gone, so its replica reads everything.
func TestReplicaReadsWhatWasPruned(t *testing.T) {
	t.Parallel()
	parts := map[string][][]row{"0": repeated(2, 10), "1": repeated(1, 3)}
	changed := behaviour{caps: everything, failWith: status.New(status.Aborted, "the table has changed")}
	f := newFixture(t, exec.Config{}, newNode(t, "x", changed, parts), newNode(t, "y", behaviour{caps: everything}, parts))
	p := passThrough(f.scan(rows()))
	require.Len(t, p.Scans[0].Targets, 1)
	target := &p.Scans[0].Targets[0]
	target.Partitions, target.Pruned, target.Version = []string{"0"}, []string{"1"}, "v1"
	got, err := collect(t.Context(), f.run(p, exec.Options{}))
	require.NoError(t, err)
	require.Len(t, got, 23)
	require.Equal(t, "v1", f.nodes[0].requests()[0].TableVersion)
	require.Empty(t, f.nodes[1].requests()[0].TableVersion)
	require.Equal(t, []string{"0", "1"}, f.nodes[1].requests()[0].Spec.Partitions)
}

// TestNoRowBeforeVersionsAreConfirmed: while one scanner may still say that the
// plan is out of date, the other's rows are held back, so that the statement can
// be planned again.
func TestNoRowBeforeVersionsAreConfirmed(t *testing.T) {
	t.Parallel()
	changed := behaviour{caps: everything, failAfter: 50 * time.Millisecond, failWith: status.New(status.Aborted, "the table has changed")}
	f := newFixture(t, exec.Config{}, newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": repeated(3, 10)}),
		newNode(t, "y", changed, map[string][][]row{"1": repeated(1, 3), "2": nil}))
	p := passThrough(f.scan(rows()))
	target := &p.Scans[0].Targets[1]
	target.Partitions, target.Pruned, target.Version = []string{"1"}, []string{"2"}, "v1"
	got, err := collect(t.Context(), f.run(p, exec.Options{}))
	require.Equal(t, status.Aborted, status.CodeOf(err))
	require.Empty(t, got)
	f.idle()
}
