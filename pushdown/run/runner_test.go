package run_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
)

// execute runs spec over batches with the given options.
func execute(spec pushdown.Spec, input *arrow.Schema, opts run.Options, batches []arrow.RecordBatch) (out []arrow.RecordBatch, err error) {
	r, err := run.New(spec, input, opts)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	defer func() {
		if err != nil {
			pushdowntest.ReleaseAll(out)
			out = nil
		}
	}()
	for _, b := range batches {
		ready, err := r.Push(b)
		out = append(out, ready...)
		if err != nil {
			return out, err
		}
	}
	ready, err := r.Finish()
	return append(out, ready...), err
}

// randomOptions draws bounds so tight that early emission, pass-through and
// collisions happen.
func randomOptions(t *rapid.T, mem memory.Allocator) run.Options {
	return run.Options{
		Alloc:     mem,
		MaxGroups: rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(t, "max groups"),
		MaxBytes:  rapid.SampledFrom([]int64{0, 1, 1 << 12}).Draw(t, "max bytes"),
		ProbeRows: rapid.SampledFrom([]int64{0, 1, 5}).Draw(t, "probe rows"),
		HashMask:  rapid.SampledFrom([]uint64{0, 1, 6}).Draw(t, "hash mask"),
	}
}

// requireLike checks a result or an error against the reference's.
func requireLike(t *rapid.T, spec pushdown.Spec, want [][]any, wantErr error, got []arrow.RecordBatch, gotErr error) {
	if stopsEarly(spec) && (wantErr != nil || gotErr != nil) {
		return // whether the row that fails is reached is open
	}
	if wantErr != nil {
		require.Error(t, gotErr, "wanted %v", wantErr)
		require.Equal(t, status.OutOfRange, status.CodeOf(gotErr), "%v", gotErr)
		return
	}
	require.NoError(t, gotErr)
	pushdowntest.RequireResult(t, spec, want, got...)
}

func stopsEarly(spec pushdown.Spec) bool {
	return spec.Limit == 0 || spec.Limit > 0 && len(spec.OrderBy) == 0
}

type check func(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, batches []arrow.RecordBatch, spec pushdown.Spec)

func property(t *testing.T, check check) {
	t.Parallel()
	rapid.Check(t, over(check))
}

// over runs check over random batches and a random spec and looks for leaks.
func over(check check) func(*rapid.T) {
	return func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, mem, schema, 40)
		spec := pushdowntest.Spec(t, schema)
		t.Logf("%s", spec.String())
		require.NoError(t, spec.Validate(schema))
		check(t, mem, schema, batches, spec)
		pushdowntest.ReleaseAll(batches)
		mem.AssertSize(t, 0)
	}
}

func equalsReference(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, batches []arrow.RecordBatch, spec pushdown.Spec) {
	want, wantErr := pushdowntest.Reference(spec, batches...)
	got, err := execute(spec, schema, randomOptions(t, mem), batches)
	defer pushdowntest.ReleaseAll(got)
	requireLike(t, spec, want, wantErr, got, err)
}

func TestRandomSpecsEqualReference(t *testing.T) { property(t, equalsReference) }

func FuzzSpecs(f *testing.F) { f.Fuzz(rapid.MakeFuzz(over(equalsReference))) }

// Running what Split sends away and then what it keeps equals running the spec.
func TestSplitEqualsWhole(t *testing.T) {
	property(t, func(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, batches []arrow.RecordBatch, spec pushdown.Spec) {
		want, wantErr := pushdowntest.Reference(spec, batches...)
		split := pushdown.Split(spec.WithCarrier(schema), pushdowntest.Capabilities(t))
		require.NoError(t, split.Remote.Validate(schema))
		got, err := execute(split.Remote, schema, randomOptions(t, mem), batches)
		if err == nil && split.Residual != nil {
			rows := got
			defer pushdowntest.ReleaseAll(rows)
			t.Logf("remote %s, residual %s", split.Remote.String(), split.Residual.String())
			require.NoError(t, split.Residual.Validate(split.Remote.OutputSchema()))
			got, err = execute(*split.Residual, split.Remote.OutputSchema(), randomOptions(t, mem), rows)
		}
		defer pushdowntest.ReleaseAll(got)
		requireLike(t, spec, want, wantErr, got, err)
	})
}

// Any division of the input among runners, merged by another, equals the whole;
// the last may take raw rows as well.
func TestMergeEqualsWhole(t *testing.T) {
	property(t, func(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, batches []arrow.RecordBatch, spec pushdown.Spec) {
		if len(spec.OrderBy) > 0 && !pushesKeys(spec) {
			return
		}
		want, wantErr := pushdowntest.Reference(spec, batches...)
		got, err := mergeRandomly(t, mem, schema, batches, spec)
		defer pushdowntest.ReleaseAll(got)
		requireLike(t, spec, want, wantErr, got, err)
	})
}

// pushesKeys reports that the sort keys are among the output columns.
func pushesKeys(spec pushdown.Spec) bool {
	for _, k := range spec.OrderBy {
		if !slices.ContainsFunc(spec.Columns, func(c pushdown.Column) bool { return c.Name == k.Column.Name }) {
			return false
		}
	}
	return true
}

func mergeRandomly(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, batches []arrow.RecordBatch, spec pushdown.Spec) (out []arrow.RecordBatch, err error) {
	last, err := run.New(spec, schema, randomOptions(t, mem))
	require.NoError(t, err)
	defer last.Release()
	collect := func(ready []arrow.RecordBatch, e error) {
		out = append(out, ready...)
		if err == nil {
			err = e
		}
	}
	for _, b := range batches {
		if err != nil {
			break
		}
		if rapid.Bool().Draw(t, "raw") {
			collect(last.Push(b))
			continue
		}
		partial, e := execute(spec, schema, randomOptions(t, mem), []arrow.RecordBatch{b})
		collect(nil, e)
		for _, p := range partial {
			if err == nil {
				collect(last.Merge(p))
			}
		}
		pushdowntest.ReleaseAll(partial)
	}
	if err == nil {
		collect(last.Finish())
	}
	return out, err
}
