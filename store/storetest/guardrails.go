package storetest

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// The workspaces of the tests of guardrails.
const (
	guardrailsIn   = "0198a000-0000-7000-8000-000000000001"
	guardrailsElse = "0198a000-0000-7000-8000-000000000002"
)

// someGuardrail returns a guardrail with every field set.
func someGuardrail(n byte) guardrails.Guardrail {
	at := time.Date(2026, 11, 21, 12, 0, int(n), 0, time.UTC)
	return guardrails.Guardrail{
		ID: uuid.UUID{15: n}, Account: "acme", Workspace: guardrailsIn, Name: "g" + strconv.Itoa(int(n)), Description: new("why"),
		AllowedModels: []string{"a/b"}, IgnoredModels: []string{"c/d"}, AllowedProviders: []string{"ant"}, IgnoredProviders: []string{"bee"},
		Limit: new(5 * router.Dollar), Reset: router.Weekly, BYOK: true,
		ZDR:          guardrails.ZDR{General: new(true), Anthropic: new(true), OpenAI: new(false), Google: new(true), XAI: new(false), Other: new(true)},
		PaidTraining: new(false), FreeTraining: new(true), FreePublication: new(false),
		Builtins:  []content.Filter{{Slug: content.PromptInjection, Action: content.Block, UserOnly: true}},
		Filters:   []content.Filter{{Pattern: `\d+`, Action: content.Redact, Label: "[N]"}},
		CreatedAt: at, UpdatedAt: at.Add(time.Millisecond), Revision: 1,
	}
}

func guardrailChange(action string) router.Change {
	return router.Change{ID: uuid.New(), Account: "acme", Kind: "guardrail", Action: action, At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
}

func testGuardrails(t *testing.T, open Open) {
	t.Helper()
	if open(t).Guardrails == nil {
		t.Skip("no Guardrails")
	}
	for name, test := range map[string]func(*testing.T, store.Set){
		"what goes in comes out": guardrailRoundTrip,
		"a second guardrail with an id, or a second default, is refused": guardrailExists,
		"what belongs to another account is not found":                   guardrailForeign,
		"a list is of one workspace, the latest first":                   guardrailList,
		"replacing an older revision is a conflict":                      guardrailReplace,
		"concurrent replacements of a revision succeed once":             guardrailReplaceRivals,
		"what goes in and what comes out are copies":                     guardrailCopies,
		"deleting removes the assignments":                               guardrailDelete,
		"a change is stored with its action, or not at all":              guardrailChanges,
		"a canceled context does nothing":                                guardrailCanceled,
		"assigning counts what changed and replaces":                     assignReplaces,
		"unassigning counts rows of this guardrail alone":                unassignCounts,
		"assignments are listed by guardrail, the latest first":          assignmentsList,
		"concurrent assignments leave a subject one guardrail":           assignRivals,
		"what applies is found by workspace, member and key":             guardrailsApplied,
		"an empty name has no guardrail":                                 guardrailsOfNobody,
		"text is compared byte for byte":                                 guardrailText,
		"empty lists of filters stay empty":                              guardrailEmptyLists,
		"subjects of another account are different":                      assignForeign,
		"many subjects are assigned at once":                             assignMany,
		"concurrent calls create one default guardrail":                  guardrailCreateRivals,
		"a deleted guardrail keeps no assignments":                       assignDeleteRivals,
		"what applies is read as one snapshot":                           appliedAtOnce,
		"random histories have the answers of the store in memory":       guardrailHistory,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// applied returns what applies, without the versions, which a store need not have.
func applied(ctx context.Context, s guardrails.Store, p router.Principal) (guardrails.Applied, error) {
	a, err := s.Applied(ctx, p)
	a.Versions = nil
	return a, err
}

func createGuardrails(t *testing.T, s guardrails.Store, list ...guardrails.Guardrail) {
	t.Helper()
	for _, g := range list {
		require.NoError(t, s.Create(t.Context(), g, guardrailChange("create")))
	}
}

func guardrailRoundTrip(t *testing.T, set store.Set) {
	t.Helper()
	want := someGuardrail(1)
	bare := guardrails.Guardrail{ID: uuid.UUID{2}, Account: "acme", Workspace: guardrailsIn, Name: "bare", Revision: 1}
	createGuardrails(t, set.Guardrails, want, bare)
	for _, g := range []guardrails.Guardrail{want, bare} {
		got, err := set.Guardrails.Get(t.Context(), "acme", g.ID)
		require.NoError(t, err)
		assert.Equal(t, g, got)
	}
}

func guardrailEmptyLists(t *testing.T, set store.Set) {
	t.Helper()
	want := someGuardrail(1)
	want.Builtins, want.Filters, want.Description = []content.Filter{}, []content.Filter{}, new("")
	createGuardrails(t, set.Guardrails, want)
	got, err := set.Guardrails.Get(t.Context(), "acme", want.ID)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func guardrailText(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	g.Default, g.Workspace = true, "home"
	second := g
	second.ID, second.Workspace = uuid.UUID{2}, "Home"
	createGuardrails(t, s, g, second)
	assign(t, s, 1, g.ID, guardrails.KeyKind, "hash")
	assert.Equal(t, 1, assign(t, s, 2, second.ID, guardrails.KeyKind, "Hash"))
	list, total, err := s.List(t.Context(), "acme", "home", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.Equal(t, []guardrails.Guardrail{g}, list)
	for _, p := range []router.Principal{{Account: "acme", Workspace: "HOME", KeyHash: "HASH"}, {Account: "Acme", Workspace: "home", KeyHash: "hash"}} {
		got, err := applied(t.Context(), s, p)
		require.NoError(t, err)
		assert.Zero(t, got)
	}
}

func guardrailExists(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	g.Default = true
	createGuardrails(t, s, g)
	foreign := g
	foreign.Account, foreign.Workspace = "other", guardrailsElse
	require.ErrorIs(t, s.Create(t.Context(), foreign, guardrailChange("create")), guardrails.ErrExists)
	second := g
	second.ID = uuid.UUID{2}
	require.ErrorIs(t, s.Create(t.Context(), second, guardrailChange("create")), guardrails.ErrExists)
	second.Default = false
	require.NoError(t, s.Create(t.Context(), second, guardrailChange("create")), "others may be many")
}

func guardrailForeign(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	createGuardrails(t, s, g)
	ctx := t.Context()
	for name, id := range map[string]uuid.UUID{"foreign": g.ID, "missing": {9}} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Get(ctx, "other", id)
			require.ErrorIs(t, err, guardrails.ErrNotFound)
			require.ErrorIs(t, s.Delete(ctx, "other", id, guardrailChange("delete")), guardrails.ErrNotFound)
			theirs := g
			theirs.ID, theirs.Account, theirs.Revision = id, "other", 2
			require.ErrorIs(t, s.Replace(ctx, theirs, guardrailChange("update")), guardrails.ErrNotFound)
			_, err = s.Assign(ctx, []guardrails.Assignment{{ID: uuid.UUID{1}, Account: "other", Guardrail: id, Subject: "k"}}, guardrailChange("assign"))
			require.ErrorIs(t, err, guardrails.ErrNotFound)
			_, err = s.Unassign(ctx, "other", id, guardrails.KeyKind, []string{"k"}, guardrailChange("unassign"))
			require.ErrorIs(t, err, guardrails.ErrNotFound)
			_, _, err = s.Assignments(ctx, "other", id, guardrails.KeyKind, 0, 10)
			require.ErrorIs(t, err, guardrails.ErrNotFound)
		})
	}
	list, total, err := s.List(ctx, "other", guardrailsIn, 0, 10)
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.Zero(t, total)
	got, err := s.Get(ctx, "acme", g.ID)
	require.NoError(t, err)
	assert.Equal(t, g, got, "nobody touched it")
}

func guardrailList(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Guardrails
	a, b, c, elsewhere := someGuardrail(1), someGuardrail(2), someGuardrail(3), someGuardrail(4)
	b.CreatedAt, elsewhere.Workspace = a.CreatedAt, guardrailsElse
	createGuardrails(t, s, a, b, c, elsewhere)
	for _, part := range []struct {
		offset, limit int
		want          []guardrails.Guardrail
	}{
		{0, 10, []guardrails.Guardrail{c, b, a}},
		{1, 1, []guardrails.Guardrail{b}},
		{2, 10, []guardrails.Guardrail{a}},
		{3, 10, []guardrails.Guardrail{}},
		{99, 10, []guardrails.Guardrail{}},
	} {
		list, total, err := s.List(t.Context(), "acme", guardrailsIn, part.offset, part.limit)
		require.NoError(t, err)
		assert.Equal(t, 3, total)
		assert.Equal(t, part.want, list)
	}
}

func guardrailReplace(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	createGuardrails(t, s, g)
	next := guardrails.Guardrail{ID: g.ID, Account: g.Account, Workspace: g.Workspace, Name: "next", Revision: 2}
	require.NoError(t, s.Replace(t.Context(), next, guardrailChange("update")))
	require.ErrorIs(t, s.Replace(t.Context(), next, guardrailChange("update")), guardrails.ErrConflict)
	got, err := s.Get(t.Context(), "acme", g.ID)
	require.NoError(t, err)
	assert.Equal(t, next, got)
}

func guardrailReplaceRivals(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	createGuardrails(t, s, g)
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			next := g
			next.Name, next.Revision = strconv.Itoa(i), 2
			if err := s.Replace(t.Context(), next, guardrailChange("update")); err == nil {
				won.Add(1)
			} else {
				assert.ErrorIs(t, err, guardrails.ErrConflict)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, won.Load())
}

func guardrailCopies(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	createGuardrails(t, s, g)
	g.AllowedModels[0], g.Builtins[0].Slug = "changed", "changed"
	got, err := s.Get(t.Context(), "acme", g.ID)
	require.NoError(t, err)
	assert.Equal(t, someGuardrail(1), got)
	got.IgnoredProviders[0], got.Filters[0].Pattern = "changed", "changed"
	got, err = s.Get(t.Context(), "acme", g.ID)
	require.NoError(t, err)
	assert.Equal(t, someGuardrail(1), got)
}

func guardrailDelete(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	g.Default = true
	other := someGuardrail(2)
	createGuardrails(t, s, g, other)
	assign(t, s, 1, g.ID, guardrails.KeyKind, "a", "b")
	assign(t, s, 3, other.ID, guardrails.KeyKind, "c")
	require.NoError(t, s.Delete(t.Context(), "acme", g.ID, guardrailChange("delete")))
	require.ErrorIs(t, s.Delete(t.Context(), "acme", g.ID, guardrailChange("delete")), guardrails.ErrNotFound)
	list, total, err := s.Assignments(t.Context(), "acme", uuid.Nil, guardrails.KeyKind, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	assert.Equal(t, "c", list[0].Subject)
	got, err := applied(t.Context(), s, router.Principal{Account: "acme", Workspace: guardrailsIn, KeyHash: "a"})
	require.NoError(t, err)
	assert.Zero(t, got)
	createGuardrails(t, s, g)
}

func guardrailChanges(t *testing.T, set store.Set) {
	t.Helper()
	if set.Audit == nil {
		t.Skip("no Audit")
	}
	s, g, ctx := set.Guardrails, someGuardrail(1), t.Context()
	next := g
	next.Revision = 2
	row := []guardrails.Assignment{{ID: uuid.UUID{1}, Account: "acme", Guardrail: g.ID, Subject: "a"}}
	steps := []struct {
		action string
		do     func(router.Change) error
	}{
		{"create", func(c router.Change) error { return s.Create(ctx, g, c) }},
		{"update", func(c router.Change) error { return s.Replace(ctx, next, c) }},
		{"assign", func(c router.Change) error { _, err := s.Assign(ctx, row, c); return err }},
		{"unassign", func(c router.Change) error {
			_, err := s.Unassign(ctx, "acme", g.ID, guardrails.KeyKind, []string{"a"}, c)
			return err
		}},
		{"delete", func(c router.Change) error { return s.Delete(ctx, "acme", g.ID, c) }},
	}
	for _, step := range steps[1:] {
		require.Error(t, step.do(guardrailChange("refused "+step.action)))
	}
	for _, step := range steps {
		require.NoError(t, step.do(guardrailChange(step.action)))
		if step.action == "assign" || step.action == "unassign" {
			require.NoError(t, step.do(guardrailChange("nothing "+step.action)), "it is so already")
		}
	}
	changes, total, err := set.Audit.Changes(ctx, "acme", 0, 10)
	require.NoError(t, err)
	require.Equal(t, len(steps), total)
	for i, step := range steps {
		assert.Equal(t, step.action, changes[len(steps)-1-i].Action)
	}
}

func guardrailCanceled(t *testing.T, set store.Set) {
	t.Helper()
	s, g := set.Guardrails, someGuardrail(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Create(ctx, g, guardrailChange("create")), context.Canceled)
	_, err := s.Get(t.Context(), "acme", g.ID)
	require.ErrorIs(t, err, guardrails.ErrNotFound)
	_, err = s.Get(ctx, "acme", g.ID)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = s.List(ctx, "acme", guardrailsIn, 0, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Replace(ctx, g, guardrailChange("update")), context.Canceled)
	require.ErrorIs(t, s.Delete(ctx, "acme", g.ID, guardrailChange("delete")), context.Canceled)
	_, err = s.Assign(ctx, []guardrails.Assignment{{}}, guardrailChange("assign"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Unassign(ctx, "acme", g.ID, guardrails.KeyKind, []string{"a"}, guardrailChange("unassign"))
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = s.Assignments(ctx, "acme", uuid.Nil, guardrails.KeyKind, 0, 1)
	require.ErrorIs(t, err, context.Canceled)
	_, err = applied(ctx, s, router.Principal{Account: "acme"})
	require.ErrorIs(t, err, context.Canceled)
}
