package guardrails_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

func filtering(slug string, action content.Action) guardrails.Patch {
	return guardrails.Patch{Builtins: router.To([]content.Filter{{Slug: slug, Action: action}})}
}

func TestContentCases(t *testing.T) {
	const state = `{"from":"ann@example.com","call":"(415) 555-0132"}`
	const k, m, w = router.SourceKey, router.SourceMember, router.SourceWorkspace
	for _, c := range []struct {
		name       string
		guardrails patches
		model      string
		sent       string // the state that reaches the upstream; "" if none does
		class      router.Class
		message    string
		stages     []string
	}{
		{
			name:       "R88a",
			guardrails: patches{w: filtering(content.Email, content.Redact), k: filtering(content.Email, content.Block)},
			class:      router.PermissionDenied, message: "Request blocked by content filter: Email address", stages: []string{"key block"},
		},
		{
			name:       "R88b",
			guardrails: patches{w: filtering(content.Email, content.Flag), m: filtering(content.Email, content.Redact)},
			sent:       `{"from":"[EMAIL]","call":"(415) 555-0132"}`, stages: []string{"member redact"},
		},
		{
			name:       "R88c",
			guardrails: patches{m: filtering(content.Phone, content.Redact), k: filtering(content.Email, content.Redact)},
			sent:       `{"from":"[EMAIL]","call":"[PHONE]"}`, stages: []string{"key redact", "member redact"},
		},
		{
			name:       "R88d",
			guardrails: patches{m: {AllowedModels: router.To([]string{modelN})}, k: filtering(content.Email, content.Block)},
			class:      router.PermissionDenied, message: "Request blocked by content filter: Email address", stages: []string{"key block"},
		},
		{
			name: "R88e", guardrails: patches{k: filtering(content.Email, content.Block)}, model: "acme/none",
			class: router.InvalidRequest, message: "acme/none is not a valid model ID",
		},
		{name: "flag alone", guardrails: patches{w: filtering(content.Email, content.Flag)}, sent: state, stages: []string{"workspace flag"}},
		{name: "nothing found", guardrails: patches{w: filtering(content.SSN, content.Block)}, sent: state},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			ids := map[string]string{}
			for scope, p := range c.guardrails {
				ids[scope.String()] = r.put(t, scope, p).ID.String()
			}
			engine, sent := newRouter(t, catalogs()["K1"], r.Intercept)
			if c.model == "" {
				c.model = modelM
			}
			request := ask(state, c.model)
			call := &router.Call{Request: request, Principal: key("a")}
			_, err := engine.Decide(t.Context(), call)
			assert.Equal(t, c.sent, string(*sent))
			assert.Equal(t, state, string(request.State), "the caller's request is never changed")
			if c.class == "" {
				require.NoError(t, err)
			} else {
				e, ok := errors.AsType[*router.Error](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, c.class, e.Class)
				assert.Equal(t, c.message, e.Message)
			}
			var stages []string
			for _, s := range call.Report.Pipeline {
				stages = append(stages, fmt.Sprint(s.GuardrailScope, " ", s.Data["action"]))
				assert.Equal(t, ids[s.GuardrailScope], s.GuardrailID.String())
			}
			assert.Equal(t, c.stages, stages)
		})
	}
}

// passed runs a call through the interceptor alone and returns its error.
func passed(t testing.TB, s *guardrails.Service, c *router.Call) error {
	t.Helper()
	_, err := s.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil })(t.Context(), c)
	return err
}

func TestChangesOfThisProcessActAtOnce(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	g := r.create(t, guardrails.Patch{IgnoredProviders: router.To([]string{"ant"})})
	ignored := func() []string {
		t.Helper()
		rules, err := r.Policy(ctx, key("a"))
		require.NoError(t, err)
		if rules == nil {
			return nil
		}
		return rules[0].IgnoredProviders
	}
	require.Nil(t, ignored(), "not assigned")
	r.assign(t, g, guardrails.KeyKind, "a")
	require.Equal(t, []string{"ant"}, ignored())
	_, err := r.Update(ctx, r.by, g.ID, guardrails.Patch{IgnoredProviders: router.To([]string{"bee"})})
	require.NoError(t, err)
	require.Equal(t, []string{"bee"}, ignored())
	_, err = r.Unassign(ctx, r.by, g.ID, guardrails.KeyKind, []string{"a"})
	require.NoError(t, err)
	require.Nil(t, ignored())
	r.assign(t, g, guardrails.MemberKind, "ann")
	require.Equal(t, []string{"bee"}, ignored())
	require.NoError(t, r.Delete(ctx, r.by, g.ID))
	require.Nil(t, ignored())
	_, err = r.Update(ctx, r.by, defaultID, guardrails.Patch{IgnoredProviders: router.To([]string{"cat"})})
	require.NoError(t, err)
	require.Equal(t, []string{"cat"}, ignored())
}

func TestChangesOfAnotherProcessActWithinTheStaleness(t *testing.T) {
	r := newRig(t)
	cfg := r.config()
	other, err := guardrails.New(cfg)
	require.NoError(t, err)
	require.NoError(t, passed(t, r.Service, &router.Call{Principal: key("a")}))
	_, err = other.Update(t.Context(), r.by, defaultID, guardrails.Patch{IgnoredProviders: router.To([]string{"cat"})})
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, passed(t, r.Service, &router.Call{Principal: key("a")}))
	}
	assert.EqualValues(t, 1, r.reads.Load())
	r.now = r.now.Add(5 * time.Second)
	call := &router.Call{Principal: key("a")}
	require.NoError(t, passed(t, r.Service, call))
	assert.Len(t, call.Policy, 1)
	assert.EqualValues(t, 2, r.reads.Load())

	r.now = r.now.Add(-time.Hour)
	require.NoError(t, passed(t, r.Service, &router.Call{Principal: key("a")}))
	assert.EqualValues(t, 3, r.reads.Load(), "a clock that steps back makes nothing live longer")
}

func TestTheCacheIsBounded(t *testing.T) {
	r := newRig(t)
	cfg := r.config()
	cfg.Store, cfg.MaxCached = counting{r.set.Guardrails, r.reads, nil}, 2
	s, err := guardrails.New(cfg)
	require.NoError(t, err)
	for i := range 10 {
		require.NoError(t, passed(t, s, &router.Call{Principal: key(strconv.Itoa(i))}))
	}
	require.EqualValues(t, 10, r.reads.Load())
	for i := range 10 {
		require.NoError(t, passed(t, s, &router.Call{Principal: key(strconv.Itoa(i))}))
	}
	assert.GreaterOrEqual(t, r.reads.Load(), int64(18), "two of ten are remembered")
}

// TestAnEvictedPolicyIsMadeOnce: the calls that need an evicted policy again wait for one
// reading, and later calls find it.
func TestAnEvictedPolicyIsMadeOnce(t *testing.T) {
	r := newRig(t)
	of := map[string]guardrails.Guardrail{}
	for _, k := range []string{"a", "b"} {
		of[k] = r.create(t, guardrails.Patch{IgnoredProviders: router.To([]string{"none"})})
		r.assign(t, of[k], guardrails.KeyKind, k)
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := r.config()
		cfg.Store, cfg.MaxCached, cfg.Now = late{counting{r.set.Guardrails, r.reads, nil}}, 2, time.Now
		s, err := guardrails.New(cfg)
		require.NoError(t, err)
		ask := func(k string) { assert.NoError(t, passed(t, s, &router.Call{Principal: key(k)})) }
		for round := range 20 {
			time.Sleep(time.Minute)
			ask("a")
			time.Sleep(4 * time.Second)
			ask("b")
			_, err := r.Update(t.Context(), r.by, of["a"].ID, guardrails.Patch{IgnoredProviders: router.To([]string{strconv.Itoa(round)})})
			require.NoError(t, err)
			time.Sleep(time.Second)
			ask("a") // its new policy takes the place of its old one or of that of b
			before := r.reads.Load()
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() { ask("b") })
			}
			all.Wait()
			ask("b")
			require.LessOrEqual(t, r.reads.Load(), before+1)
		}
	})
}

// late is a store that takes its time.
type late struct{ counting }

func (s late) Applied(ctx context.Context, p router.Principal) (guardrails.Applied, error) {
	time.Sleep(time.Millisecond)
	return s.counting.Applied(ctx, p)
}

func TestWhatCannotBeReadRefuses(t *testing.T) {
	r := newRig(t)
	cfg := r.config()
	cfg.Store = counting{r.set.Guardrails, r.reads, errors.New("disk on fire")}
	s, err := guardrails.New(cfg)
	require.NoError(t, err)
	e, ok := errors.AsType[*router.Error](passed(t, s, &router.Call{Principal: key("a")}))
	require.True(t, ok)
	assert.Equal(t, router.Server, e.Class)
	_, err = s.Policy(t.Context(), key("a"))
	require.ErrorContains(t, err, "disk on fire")
	require.NoError(t, passed(t, s, &router.Call{}), "the program itself has no guardrails")
}

// slow blocks reads until open is closed.
type slow struct {
	counting

	begun, open chan struct{}
}

func (s slow) Applied(ctx context.Context, p router.Principal) (guardrails.Applied, error) {
	close(s.begun)
	<-s.open
	return s.Store.Applied(ctx, p)
}

func TestACallIsNotFailedByTheContextOfAnother(t *testing.T) {
	r := newRig(t)
	cfg := r.config()
	begun, open := make(chan struct{}), make(chan struct{})
	cfg.Store = slow{counting{r.set.Guardrails, r.reads, nil}, begun, open}
	s, err := guardrails.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var first, others sync.WaitGroup
	first.Go(func() {
		_, err := s.Policy(ctx, key("a"))
		assert.ErrorIs(t, err, context.Canceled)
	})
	<-begun
	for range 8 {
		others.Go(func() {
			_, err := s.Policy(t.Context(), key("a"))
			assert.NoError(t, err)
		})
	}
	cancel()
	first.Wait()
	close(open)
	others.Wait()
}

func TestCallsDoNotShareLists(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceKey, guardrails.Patch{IgnoredProviders: router.To([]string{"cat"}), Limit: router.To(new(router.Dollar))})
	first, second := &router.Call{Principal: key("a")}, &router.Call{Principal: key("a")}
	require.NoError(t, passed(t, r.Service, first))
	first.Policy = append(first.Policy, router.Rule{ZDR: true})
	first.Budgets = append(first.Budgets, router.Budget{})
	second.Policy = append(make([]router.Rule, 0, 8), router.Rule{ZDR: true})
	require.NoError(t, passed(t, r.Service, second))
	assert.Equal(t, []string{"cat"}, second.Policy[1].IgnoredProviders)
	assert.Len(t, second.Budgets, 1)
	rules, err := r.Policy(t.Context(), key("a"))
	require.NoError(t, err)
	assert.Len(t, rules, 1)
}

// Without content filters the interceptor costs one map lookup, so it must not allocate.
func TestInterceptDoesNotAllocate(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceKey, guardrails.Patch{IgnoredProviders: router.To([]string{"cat"}), Limit: router.To(new(router.Dollar))})
	decide := r.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, nil }) //nolint:nilnil // the test ignores the result
	for _, hash := range []string{"a", "b"} {
		call := &router.Call{Principal: key(hash)}
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			call.Policy, call.Budgets = nil, nil
			if _, err := decide(t.Context(), call); err != nil {
				t.Error(err)
			}
		}), hash)
	}
}

func BenchmarkIntercept(b *testing.B) {
	r := newRig(b)
	r.put(b, router.SourceKey, guardrails.Patch{IgnoredProviders: router.To([]string{"cat"}), Limit: router.To(new(router.Dollar))})
	decide := r.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return nil, nil }) //nolint:nilnil // the test ignores the result
	call := &router.Call{Principal: key("a")}
	b.ReportAllocs()
	for b.Loop() {
		call.Policy, call.Budgets = nil, nil
		if _, err := decide(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
