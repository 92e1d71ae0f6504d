package guardrails_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

func TestNewRefusesMistakes(t *testing.T) {
	for name, cfg := range map[string]guardrails.Config{
		"no store":           {},
		"negative staleness": {Store: memory.New().Guardrails, Staleness: -1},
		"negative cache":     {Store: memory.New().Guardrails, MaxCached: -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := guardrails.New(cfg)
			require.ErrorIs(t, err, guardrails.ErrConfig)
		})
	}
}

func TestWhatIsNotKnownDoesNotExist(t *testing.T) {
	s, err := guardrails.New(guardrails.Config{Store: memory.New().Guardrails})
	require.NoError(t, err)
	by := router.Actor{Principal: router.Principal{Account: "acme"}}
	g, err := s.Create(t.Context(), by, "", guardrails.Patch{Name: router.To("x")})
	require.NoError(t, err)
	assert.NotZero(t, g.ID)
	assert.WithinDuration(t, time.Now(), g.CreatedAt, time.Minute)
	_, err = s.Create(t.Context(), by, workspace, guardrails.Patch{Name: router.To("x")})
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	_, err = s.Update(t.Context(), by, defaultID, guardrails.Patch{Name: router.To("x")})
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	for _, kind := range []guardrails.Kind{guardrails.KeyKind, guardrails.MemberKind} {
		_, err = s.Assign(t.Context(), by, g.ID, kind, []string{"a"})
		require.ErrorIs(t, err, systemone.ErrInvalid)
	}
}

// paths lists the paths of the issues in an error.
func paths(t *testing.T, err error) []string {
	t.Helper()
	ie, ok := errors.AsType[*systemone.InvalidError](err)
	require.True(t, ok, "%v", err)
	var list []string
	for _, issue := range ie.Issues {
		list = append(list, issue.Path)
	}
	return list
}

func TestCheckFindsEveryProblem(t *testing.T) {
	list := func(entries ...string) router.Update[[]string] { return router.To(append([]string{}, entries...)) }
	filters := func(entries ...content.Filter) router.Update[[]content.Filter] { return router.To(entries) }
	for name, c := range map[string]struct {
		patch guardrails.Patch
		paths []string
	}{
		"no name":           {guardrails.Patch{Name: router.To("")}, []string{"name"}},
		"long name":         {guardrails.Patch{Name: router.To(strings.Repeat("ä", 201))}, []string{"name"}},
		"long description":  {guardrails.Patch{Description: router.To(new(strings.Repeat("ä", 1001)))}, []string{"description"}},
		"empty lists":       {guardrails.Patch{AllowedModels: list(), IgnoredModels: list(), AllowedProviders: list(), IgnoredProviders: list()}, []string{"allowed_models", "ignored_models", "allowed_providers", "ignored_providers"}},
		"empty entry":       {guardrails.Patch{AllowedModels: list("a", "")}, []string{"allowed_models.1"}},
		"long list":         {guardrails.Patch{AllowedModels: router.To(make([]string, 10_001))}, []string{"allowed_models"}},
		"negative limit":    {guardrails.Patch{Limit: router.To(new(-router.Dollar))}, []string{"limit_usd"}},
		"huge limit":        {guardrails.Patch{Limit: router.To(new(9_000_000_000*router.Dollar + 1))}, []string{"limit_usd"}},
		"unknown builtin":   {guardrails.Patch{Builtins: filters(content.Filter{Slug: content.Email}, content.Filter{Slug: "secrets"})}, []string{"content_filter_builtins.1.slug"}},
		"unknown action":    {guardrails.Patch{Builtins: filters(content.Filter{Slug: content.Email, Action: 3})}, []string{"content_filter_builtins.0.action"}},
		"too many builtins": {guardrails.Patch{Builtins: router.To(make([]content.Filter, 101))}, []string{"content_filter_builtins"}},
		"too many filters":  {guardrails.Patch{Filters: router.To(make([]content.Filter, 101))}, []string{"content_filters"}},
		"empty pattern":     {guardrails.Patch{Filters: filters(content.Filter{})}, []string{"content_filters.0.pattern"}},
		"long pattern":      {guardrails.Patch{Filters: filters(content.Filter{Pattern: strings.Repeat("a", 100_001)})}, []string{"content_filters.0.pattern"}},
		"long label":        {guardrails.Patch{Filters: filters(content.Filter{Pattern: "a", Label: strings.Repeat("ä", 101)})}, []string{"content_filters.0.label"}},
		"no text":           {guardrails.Patch{Name: router.To("\x00"), Description: router.To(new("\xff")), AllowedModels: list("\x00"), Filters: filters(content.Filter{Pattern: "\x00", Label: "\x00"})}, []string{"name", "description", "allowed_models.0", "content_filters.0.label", "content_filters.0.pattern"}},
		"long entry":        {guardrails.Patch{IgnoredProviders: list(strings.Repeat("ä", 257))}, []string{"ignored_providers.0"}},
		"scope of others":   {guardrails.Patch{Builtins: filters(content.Filter{Slug: content.PromptInjection, UserOnly: true}, content.Filter{Slug: content.Email, UserOnly: true}), Filters: filters(content.Filter{Pattern: "a", UserOnly: true})}, []string{"content_filter_builtins.1.scan_scope", "content_filters.0.scan_scope"}},
		"several":           {guardrails.Patch{Name: router.To(""), Limit: router.To(new(-router.Dollar)), Filters: filters(content.Filter{Pattern: "("}, content.Filter{Pattern: `(a+)+`})}, []string{"name", "limit_usd", "content_filters.0.pattern", "content_filters.1.pattern"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.patch.Check()
			assert.Equal(t, c.paths, paths(t, err))
			assert.Equal(t, name == "several", errors.Is(err, content.ErrPattern))
			if name == "several" {
				assert.Equal(t, "invalid regular expression: 4 problems", err.Error())
			}
			r := newRig(t)
			g := r.create(t, guardrails.Patch{})
			_, err = r.Update(t.Context(), r.by, g.ID, c.patch)
			assert.Equal(t, c.paths, paths(t, err))
			_, err = r.Create(t.Context(), r.by, "", c.patch)
			assert.Equal(t, c.paths, paths(t, err))
			got, err := r.Get(t.Context(), r.by, g.ID)
			require.NoError(t, err)
			assert.Equal(t, g, got, "nothing is applied in part")
		})
	}
	for name, p := range map[string]guardrails.Patch{
		"longest":     {Name: router.To(strings.Repeat("ä", 200)), Description: router.To(new(strings.Repeat("ä", 1000))), Filters: filters(content.Filter{Pattern: "a", Label: strings.Repeat("ä", 100)})},
		"lists gone":  {AllowedModels: router.To[[]string](nil)},
		"bounds":      {Limit: router.To(new(9_000_000_000 * router.Dollar))},
		"nothing":     {},
		"all actions": {Builtins: filters(content.Filter{Slug: content.Address, Action: content.Block}, content.Filter{Slug: content.PersonName, Action: content.Redact})},
	} {
		require.NoError(t, p.Check(), name)
	}
}

func TestSwitchesFollowTheGeneralOneUnlessGiven(t *testing.T) {
	r := newRig(t)
	on, off := router.To(new(true)), router.To(new(false))
	g := r.create(t, guardrails.Patch{ZDR: on, OpenAI: off})
	assert.Equal(t, guardrails.ZDR{General: new(true), Anthropic: new(true), OpenAI: new(false), Google: new(true), XAI: new(true), Other: new(true)}, g.ZDR, "R88f")
	g, err := r.Update(t.Context(), r.by, g.ID, guardrails.Patch{ZDR: off})
	require.NoError(t, err)
	assert.Equal(t, guardrails.ZDR{General: new(false), Anthropic: new(false), OpenAI: new(false), Google: new(false), XAI: new(false), Other: new(false)}, g.ZDR, "R88g")
	g, err = r.Update(t.Context(), r.by, g.ID, guardrails.Patch{XAI: on})
	require.NoError(t, err)
	assert.Equal(t, guardrails.ZDR{General: new(false), Anthropic: new(false), OpenAI: new(false), Google: new(false), XAI: new(true), Other: new(false)}, g.ZDR, "a vendor's switch changes itself alone")
	g, err = r.Update(t.Context(), r.by, g.ID, guardrails.Patch{ZDR: router.To[*bool](nil), Google: on})
	require.NoError(t, err)
	assert.Equal(t, guardrails.ZDR{Google: new(true)}, g.ZDR, "null is given, too")
}

// losing returns ErrConflict from Replace for a number of races, as concurrent updates
// do.
type losing struct {
	guardrails.Store

	races int
}

func (s *losing) Replace(ctx context.Context, g guardrails.Guardrail, change router.Change) error {
	if s.races--; s.races >= 0 {
		return guardrails.ErrConflict
	}
	return s.Store.Replace(ctx, g, change)
}

// In each round of conflicts one update succeeds, so 64 concurrent updates of one
// guardrail all succeed within 64 attempts.
func TestManyRivalsAreAllServed(t *testing.T) {
	r := newRig(t)
	g := r.create(t, guardrails.Patch{})
	for races, want := range map[int]error{63: nil, 1 << 30: guardrails.ErrConflict} {
		cfg := r.config()
		cfg.Store = &losing{r.set.Guardrails, races}
		s, err := guardrails.New(cfg)
		require.NoError(t, err)
		_, err = s.Update(t.Context(), r.by, g.ID, guardrails.Patch{Name: router.To("n")})
		require.ErrorIs(t, err, want)
	}
}

// A client that writes null for switches that it does not set keeps the protection that
// the general switch gives.
func TestNullSwitchesFollowTheGeneralOne(t *testing.T) {
	r := newRig(t)
	on, off, null := router.To(new(true)), router.To(new(false)), router.To[*bool](nil)
	g := r.create(t, guardrails.Patch{ZDR: on, Anthropic: null, OpenAI: off, Google: null, XAI: null, Other: null})
	assert.Equal(t, guardrails.ZDR{General: new(true), Anthropic: new(true), OpenAI: new(false), Google: new(true), XAI: new(true), Other: new(true)}, g.ZDR)
	g, err := r.Update(t.Context(), r.by, g.ID, guardrails.Patch{Other: null})
	require.NoError(t, err)
	assert.Nil(t, g.ZDR.Other, "alone it changes itself")
	g, err = r.Update(t.Context(), r.by, g.ID, guardrails.Patch{ZDR: null, Google: null, XAI: on})
	require.NoError(t, err)
	assert.Equal(t, guardrails.ZDR{XAI: new(true)}, g.ZDR, "a general null is no answer for others")
}

func TestUpdateTellsNullFromAbsent(t *testing.T) {
	r := newRig(t)
	whole := guardrails.Patch{
		Name: router.To("whole"), Description: router.To(new("why")), AllowedModels: router.To([]string{"a"}), Limit: router.To(new(router.Dollar)),
		Reset: router.To(router.Daily), BYOK: router.To(true), PaidTraining: router.To(new(false)),
		Builtins: router.To([]content.Filter{{Slug: content.Email}}), Filters: router.To([]content.Filter{{Pattern: "a"}}),
	}
	before := r.create(t, whole)
	r.now = r.now.Add(time.Hour)
	after, err := r.Update(t.Context(), r.by, before.ID, guardrails.Patch{Name: router.To("whole")})
	require.NoError(t, err)
	assert.Equal(t, r.now, after.UpdatedAt, "moves also when nothing changes")
	before.UpdatedAt, before.Revision = after.UpdatedAt, after.Revision
	assert.Equal(t, before, after)

	after, err = r.Update(t.Context(), r.by, before.ID, guardrails.Patch{
		Description: router.To[*string](nil), AllowedModels: router.To[[]string](nil), Limit: router.To[*router.USD](nil),
		Reset: router.To(router.Lifetime), PaidTraining: router.To[*bool](nil), Builtins: router.To[[]content.Filter](nil), Filters: router.To[[]content.Filter](nil),
	})
	require.NoError(t, err)
	assert.Equal(t, guardrails.Guardrail{
		ID: before.ID, Account: "acme", Workspace: workspace, Name: "whole", BYOK: true,
		CreatedAt: before.CreatedAt, UpdatedAt: r.now, Revision: after.Revision,
	}, after)
	_, err = r.Update(t.Context(), r.by, before.ID, guardrails.Patch{})
	require.ErrorIs(t, err, guardrails.ErrNoUpdate)
}

func TestTheDefaultGuardrailOfAWorkspace(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	_, err := r.Get(ctx, r.by, defaultID)
	require.ErrorIs(t, err, guardrails.ErrNotFound, "until it is first updated")
	require.ErrorIs(t, r.Delete(ctx, r.by, defaultID), guardrails.ErrNotFound)
	_, err = r.Assign(ctx, r.by, defaultID, guardrails.KeyKind, []string{"a"})
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	_, err = r.Update(ctx, r.by, defaultID, guardrails.Patch{Name: router.To("mine"), BYOK: router.To(true)})
	assert.Equal(t, []string{"name"}, paths(t, err))
	_, err = r.Update(ctx, r.by, defaultID, guardrails.Patch{})
	require.ErrorIs(t, err, guardrails.ErrNoUpdate)

	g, err := r.Update(ctx, r.by, defaultID, guardrails.Patch{Name: router.To(guardrails.DefaultName), BYOK: router.To(true)})
	require.NoError(t, err)
	assert.Equal(t, guardrails.Guardrail{
		ID: defaultID, Account: "acme", Workspace: workspace, Default: true, Name: guardrails.DefaultName, BYOK: true,
		CreatedAt: r.now, UpdatedAt: r.now, Revision: 1,
	}, g)
	got, err := r.Get(ctx, r.by, defaultID)
	require.NoError(t, err)
	assert.Equal(t, g, got)
	_, err = r.Update(ctx, r.by, defaultID, guardrails.Patch{Name: router.To("mine")})
	assert.Equal(t, []string{"name"}, paths(t, err))
	assert.Equal(t, []string{"id"}, paths(t, r.Delete(ctx, r.by, defaultID)))
	_, err = r.Assign(ctx, r.by, defaultID, guardrails.KeyKind, []string{"a"})
	assert.Equal(t, []string{"id"}, paths(t, err))
}

func TestForeignIsMissing(t *testing.T) {
	r := newRig(t)
	g := r.create(t, guardrails.Patch{})
	other := router.Actor{Principal: router.Principal{Account: "other"}}
	ctx := t.Context()
	for _, id := range []uuid.UUID{g.ID, {9}, defaultID} {
		_, err := r.Get(ctx, other, id)
		require.ErrorIs(t, err, guardrails.ErrNotFound)
		_, err = r.Update(ctx, other, id, guardrails.Patch{BYOK: router.To(true)})
		require.ErrorIs(t, err, guardrails.ErrNotFound)
		require.ErrorIs(t, r.Delete(ctx, other, id), guardrails.ErrNotFound)
		_, err = r.Assign(ctx, other, id, guardrails.KeyKind, []string{"a"})
		require.ErrorIs(t, err, guardrails.ErrNotFound)
		_, err = r.Unassign(ctx, other, id, guardrails.KeyKind, []string{"a"})
		require.ErrorIs(t, err, guardrails.ErrNotFound)
		_, _, err = r.Assignments(ctx, other, id, guardrails.KeyKind, 0, 10)
		require.ErrorIs(t, err, guardrails.ErrNotFound)
	}
	_, _, err := r.List(ctx, other, workspace, 0, 10)
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	_, _, err = r.List(ctx, r.by, uuid.NewString(), 0, 10)
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	list, total, err := r.List(ctx, r.by, "", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.Equal(t, []guardrails.Guardrail{g}, list)
}

func TestAssignmentsOfKeysAndMembers(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	g, h := r.create(t, guardrails.Patch{}), r.create(t, guardrails.Patch{})
	for _, bad := range [][]string{nil, {}, {""}, make([]string, 10_001)} {
		_, err := r.Assign(ctx, r.by, g.ID, guardrails.KeyKind, bad)
		assert.Equal(t, []string{"key_hashes"}, paths(t, err))
		_, err = r.Unassign(ctx, r.by, g.ID, guardrails.MemberKind, bad)
		assert.Equal(t, []string{"member_user_ids"}, paths(t, err))
	}
	_, err := r.Assign(ctx, r.by, g.ID, guardrails.KeyKind, []string{"x", "a", "ann"})
	assert.Equal(t, []string{"key_hashes.0", "key_hashes.2"}, paths(t, err))
	_, total, err := r.Assignments(ctx, r.by, g.ID, guardrails.KeyKind, 0, 10)
	require.NoError(t, err)
	assert.Zero(t, total, "nothing is applied in part")

	n, err := r.Assign(ctx, r.by, g.ID, guardrails.KeyKind, []string{"a", "b", "a"})
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	n, err = r.Assign(ctx, r.by, h.ID, guardrails.KeyKind, []string{"a"})
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	n, err = r.Assign(ctx, r.by, h.ID, guardrails.MemberKind, []string{"ann", "bob"})
	require.NoError(t, err)
	assert.Equal(t, 2, n)

	rows, total, err := r.Assignments(ctx, r.by, h.ID, guardrails.KeyKind, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.NotZero(t, rows[0].ID)
	rows[0].ID = uuid.Nil
	assert.Equal(t, []guardrails.Assignment{{
		Guardrail: h.ID, Account: "acme", Subject: "a", Name: "name of a", Label: "sk-...a", By: "ann", CreatedAt: r.now,
	}}, rows)
	_, total, err = r.Assignments(ctx, r.by, uuid.Nil, guardrails.KeyKind, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 2, total)

	n, err = r.Unassign(ctx, r.by, g.ID, guardrails.KeyKind, []string{"a", "b", "gone"})
	require.NoError(t, err)
	assert.Equal(t, 1, n, "a went to the other guardrail")
	require.NoError(t, r.Delete(ctx, r.by, h.ID))
	_, total, err = r.Assignments(ctx, r.by, uuid.Nil, guardrails.MemberKind, 0, 10)
	require.NoError(t, err)
	assert.Zero(t, total)
}

func TestEveryActionIsAudited(t *testing.T) {
	r := newRig(t)
	ctx := t.Context()
	g := r.create(t, guardrails.Patch{Limit: router.To(new(router.Dollar)), Builtins: router.To([]content.Filter{{Slug: content.Email, Action: content.Block}})})
	_, err := r.Update(ctx, r.by, g.ID, guardrails.Patch{Name: router.To("new")})
	require.NoError(t, err)
	r.assign(t, g, guardrails.KeyKind, "a")
	for range 2 { // neither the second call nor a name that was never assigned is recorded
		_, err = r.Unassign(ctx, r.by, g.ID, guardrails.KeyKind, []string{"a", "sk-rt-v1-secret"})
		require.NoError(t, err)
	}
	require.NoError(t, r.Delete(ctx, r.by, g.ID))
	changes, _, err := r.set.Audit.Changes(ctx, "acme", 0, 10)
	require.NoError(t, err)
	require.Len(t, changes, 5)
	for i, want := range []struct{ action, before, after string }{
		{"delete", `"name":"new"`, ""},
		{"unassign", `{"key_hashes":["a"]}`, ""},
		{"assign", "", `{"key_hashes":["a"]}`},
		{"update", `"name":"g"`, `"name":"new"`},
		{"create", "", `"limit_usd":1`},
	} {
		c := changes[i]
		assert.Equal(t, want.action, c.Action)
		assert.Contains(t, string(c.Before), want.before)
		assert.Contains(t, string(c.After), want.after)
		assert.Equal(t, want.before == "", c.Before == nil)
		assert.Equal(t, want.after == "", c.After == nil)
		assert.Equal(t, []any{r.by, "guardrail", g.ID.String(), r.now}, []any{c.Actor, c.Kind, c.Object, c.At})
	}
	assert.Contains(t, string(changes[4].After), `"content_filter_builtins":[{"action":"block"`)
}

func TestUpdatesOfRivalsAllCount(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			p := guardrails.Patch{BYOK: router.To(true)}
			if i%2 == 0 {
				p = guardrails.Patch{Limit: router.To(new(router.Dollar))}
			}
			_, err := r.Update(context.WithoutCancel(t.Context()), r.by, defaultID, p)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	g, err := r.Get(t.Context(), r.by, defaultID)
	require.NoError(t, err)
	assert.EqualValues(t, 16, g.Revision)
	assert.True(t, g.BYOK)
	assert.NotNil(t, g.Limit)
}
