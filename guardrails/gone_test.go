package guardrails_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
)

// shrinking is a rig that can lose its second workspace, second key and second member.
func shrinking(t *testing.T) (r *rig, gone *bool) {
	t.Helper()
	r, gone = newRig(t), new(bool)
	cfg := r.config()
	workspaces, key, member := cfg.Workspace, cfg.Key, cfg.IsMember
	cfg.Workspace = func(ctx context.Context, account, id string) (string, error) {
		if *gone && id == elsewhere {
			return "", guardrails.ErrNotFound
		}
		return workspaces(ctx, account, id)
	}
	cfg.Key = func(ctx context.Context, account, hash string) (name, label string, ok bool, err error) {
		name, label, ok, err = key(ctx, account, hash)
		return name, label, ok && (!*gone || hash != "b"), err
	}
	cfg.IsMember = func(ctx context.Context, account, user string) (bool, error) {
		ok, err := member(ctx, account, user)
		return ok && (!*gone || user != "bob"), err
	}
	var err error
	r.Service, err = guardrails.New(cfg)
	require.NoError(t, err)
	return r, gone
}

func TestAGuardrailIsGoneWithItsWorkspace(t *testing.T) {
	r, gone := shrinking(t)
	ctx := t.Context()
	g, err := r.Create(ctx, r.by, elsewhere, guardrails.Patch{Name: router.To("g"), IgnoredModels: router.To([]string{"x/y"})})
	require.NoError(t, err)
	_, err = r.Update(ctx, r.by, elsewhereID, guardrails.Patch{IgnoredModels: router.To([]string{"x/y"})})
	require.NoError(t, err)
	r.assign(t, g, guardrails.KeyKind, "a")
	r.assign(t, g, guardrails.MemberKind, "ann")
	rules, err := r.Policy(ctx, key("a"))
	require.NoError(t, err)
	require.Len(t, rules, 2)

	*gone = true
	for name, act := range map[string]func(uuid.UUID) error{
		"get": func(id uuid.UUID) error { _, err := r.Get(ctx, r.by, id); return err },
		"update": func(id uuid.UUID) error {
			_, err := r.Update(ctx, r.by, id, guardrails.Patch{BYOK: router.To(true)})
			return err
		},
		"delete": func(id uuid.UUID) error { return r.Delete(ctx, r.by, id) },
		"assign": func(id uuid.UUID) error {
			_, err := r.Assign(ctx, r.by, id, guardrails.KeyKind, []string{"a"})
			return err
		},
		"unassign": func(id uuid.UUID) error {
			_, err := r.Unassign(ctx, r.by, id, guardrails.KeyKind, []string{"a"})
			return err
		},
		"assignments": func(id uuid.UUID) error {
			_, _, err := r.Assignments(ctx, r.by, id, guardrails.KeyKind, 0, 9)
			return err
		},
	} {
		require.ErrorIs(t, act(g.ID), guardrails.ErrNotFound, name)
		if name != "update" { // it would create the default guardrail, so DefaultOf decides
			require.ErrorIs(t, act(elsewhereID), guardrails.ErrNotFound, name)
		}
	}
	for _, kind := range []guardrails.Kind{guardrails.KeyKind, guardrails.MemberKind} {
		rows, total, err := r.Assignments(ctx, r.by, uuid.Nil, kind, 0, 9)
		require.NoError(t, err)
		assert.Empty(t, rows)
		assert.Zero(t, total)
	}
	r.now = r.now.Add(5e9)
	rules, err = r.Policy(ctx, key("a"))
	require.NoError(t, err)
	assert.Empty(t, rules, "it is not enforced")

	for range 2 {
		require.NoError(t, r.ClearWorkspace(ctx, r.by, elsewhere))
		_, total, err := r.set.Guardrails.List(ctx, "acme", elsewhere, 0, 9)
		require.NoError(t, err)
		assert.Zero(t, total)
	}
	_, total, err := r.set.Guardrails.Assignments(ctx, "acme", uuid.Nil, guardrails.KeyKind, 0, 9)
	require.NoError(t, err)
	assert.Zero(t, total)

	g = r.create(t, guardrails.Patch{})
	require.NoError(t, r.ClearWorkspace(ctx, r.by, workspace))
	_, err = r.Get(ctx, r.by, g.ID)
	require.NoError(t, err, "a workspace that is there is left alone")
}

func TestAssignmentsOfWhatIsGoneAreNotListed(t *testing.T) {
	r, gone := shrinking(t)
	g := r.create(t, guardrails.Patch{})
	for kind, subjects := range map[guardrails.Kind][]string{guardrails.KeyKind: {"a", "b"}, guardrails.MemberKind: {"ann", "bob"}} {
		*gone = false
		_, err := r.Assign(t.Context(), r.by, g.ID, kind, subjects)
		require.NoError(t, err)
		for _, id := range []uuid.UUID{g.ID, uuid.Nil} {
			*gone = false
			_, total, err := r.Assignments(t.Context(), r.by, id, kind, 0, 9)
			require.NoError(t, err)
			require.Equal(t, 2, total)
			*gone = true
			rows, total, err := r.Assignments(t.Context(), r.by, id, kind, 0, 1)
			require.NoError(t, err)
			assert.Equal(t, 1, total)
			require.Len(t, rows, 1)
			assert.Equal(t, subjects[0], rows[0].Subject)
			rows, total, err = r.Assignments(t.Context(), r.by, id, kind, 1, 1)
			require.NoError(t, err)
			assert.Equal(t, 1, total)
			assert.Empty(t, rows)
		}
	}
}
