package routertest

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Local describes a provider that computes its answers itself.
type Local struct {
	// New makes the provider under test; required. It is called once for each test.
	// Release resources by t.Cleanup.
	New func(t *testing.T) router.Provider
	// Model is the name in Attempt.Model; default judge-1.
	Model string
	// Tolerance is that of the provider's endpoints.
	Tolerance systemone.Tolerance
	// NoNulls says that no null guidance can be sent.
	NoNulls bool
	// Deterministic says that the same attempt always gets the same answers.
	Deterministic bool
	// Rounds is how often each of eight concurrent goroutines asks; default 25.
	// Fewer make the suite faster for a slow provider.
	Rounds int
}

// RunLocal tests the promises of router.Provider that concern a provider without an
// upstream. It must not run beside parallel tests.
func RunLocal(t *testing.T, l Local) {
	t.Helper()
	require.NotNil(t, l.New, "Local.New is required")
	if l.Model == "" {
		l.Model = "judge-1"
	}
	if l.Rounds == 0 {
		l.Rounds = rounds
	}
	for _, group := range []struct {
		name string
		test func(*testing.T, Local)
	}{
		{"answers", localAnswers},
		{"context", localContext},
		{"concurrency", localConcurrency},
	} {
		t.Run(group.name, func(t *testing.T) {
			leavesNoGoroutine(t, func() { group.test(t, l) })
		})
	}
}

func (l Local) attempt(r *systemone.Request) router.Attempt {
	return router.Attempt{Request: r, Model: l.Model, RequestID: requestID}
}

// localAnswers: every kind and shape gets answers that pass the check, and the
// attempt is not changed.
func localAnswers(t *testing.T, l Local) {
	t.Helper()
	p := l.New(t)
	for _, s := range shapes(!l.NoNulls) {
		t.Run(s.name, func(t *testing.T) {
			before := s.request.AppendJSON(nil)
			got, err := p.Decide(t.Context(), l.attempt(s.request))
			require.NoError(t, err)
			finite(t, got.Answers)
			require.NoError(t, acceptable(s.request, got, l.Tolerance))
			assert.Empty(t, got.Refused, "a provider that computes does not refuse")
			assert.GreaterOrEqual(t, got.Usage.InputTokens, int64(0))
			assert.GreaterOrEqual(t, got.Usage.OutputTokens, int64(0))
			assert.Equal(t, string(before), string(s.request.AppendJSON(nil)), "an attempt is not changed")
			if l.Deterministic {
				again, err := p.Decide(t.Context(), l.attempt(s.request))
				require.NoError(t, err)
				assert.Equal(t, got.Answers, again.Answers)
			}
		})
	}
}

// localContext: nothing is computed for a context that has ended.
func localContext(t *testing.T, l Local) {
	t.Helper()
	p := l.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Decide(ctx, l.attempt(mixed()))
	_ = failure(t, err)
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = p.Decide(ctx, l.attempt(mixed()))
	failed := failure(t, err)
	assert.Equal(t, router.Timeout, failed.Class)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// localConcurrency: concurrent attempts do not mix. A provider may report that it
// is full, but must not answer wrongly.
func localConcurrency(t *testing.T, l Local) {
	t.Helper()
	p := l.New(t)
	var all sync.WaitGroup
	for asker := range askers {
		all.Go(func() {
			for round := range l.Rounds {
				r := numbered(asker*l.Rounds + round)
				got, err := p.Decide(t.Context(), l.attempt(r))
				if err != nil {
					failed := failure(t, err)
					assert.Contains(t, []router.Class{router.ProviderOverloaded, router.NoCapacity}, failed.Class)
					continue
				}
				assert.NoError(t, systemone.Check(r, got.Answers, l.Tolerance))
			}
		})
	}
	all.Wait()
}
