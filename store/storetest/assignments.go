package storetest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// assign assigns subjects, with rows numbered from n on, and returns the count.
func assign(t *testing.T, s guardrails.Store, n byte, id uuid.UUID, kind guardrails.Kind, subjects ...string) int {
	t.Helper()
	rows := make([]guardrails.Assignment, len(subjects))
	for i, name := range subjects {
		rows[i] = someAssignment(n+byte(i), id, kind, name)
	}
	count, err := s.Assign(t.Context(), rows, guardrailChange("assign"))
	require.NoError(t, err)
	return count
}

func someAssignment(n byte, id uuid.UUID, kind guardrails.Kind, subject string) guardrails.Assignment {
	number := strconv.Itoa(int(n))
	return guardrails.Assignment{
		ID: uuid.UUID{15: n}, Guardrail: id, Account: "acme", Kind: kind, Subject: subject,
		Name: "name " + number, Label: "label " + number, By: "ann " + number,
		CreatedAt: time.Date(2026, 11, 21, 12, 0, int(n), 0, time.UTC),
	}
}

func assignReplaces(t *testing.T, set store.Set) {
	t.Helper()
	s, a, b := set.Guardrails, someGuardrail(1), someGuardrail(2)
	createGuardrails(t, s, a, b)
	assert.Equal(t, 2, assign(t, s, 1, a.ID, guardrails.KeyKind, "x", "y"))
	assert.Equal(t, 1, assign(t, s, 3, a.ID, guardrails.MemberKind, "x"), "a member is no key of the same name")
	assert.Equal(t, 1, assign(t, s, 4, b.ID, guardrails.KeyKind, "x"))
	assert.Equal(t, 1, assign(t, s, 5, a.ID, guardrails.KeyKind, "y", "z"), "y is assigned already")
	for id, want := range map[uuid.UUID][]guardrails.Assignment{
		a.ID: {someAssignment(6, a.ID, guardrails.KeyKind, "z"), someAssignment(2, a.ID, guardrails.KeyKind, "y")},
		b.ID: {someAssignment(4, b.ID, guardrails.KeyKind, "x")},
	} {
		list, _, err := s.Assignments(t.Context(), "acme", id, guardrails.KeyKind, 0, 10)
		require.NoError(t, err)
		assert.Equal(t, want, list)
	}
}

func unassignCounts(t *testing.T, set store.Set) {
	t.Helper()
	s, a, b := set.Guardrails, someGuardrail(1), someGuardrail(2)
	createGuardrails(t, s, a, b)
	assign(t, s, 1, a.ID, guardrails.KeyKind, "x", "y")
	assign(t, s, 3, a.ID, guardrails.MemberKind, "x")
	assign(t, s, 4, b.ID, guardrails.KeyKind, "z")
	n, err := s.Unassign(t.Context(), "acme", a.ID, guardrails.KeyKind, []string{"x", "z", "none", "x"}, guardrailChange("unassign"))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	list, total, err := s.Assignments(t.Context(), "acme", uuid.Nil, guardrails.KeyKind, 0, 10)
	require.NoError(t, err)
	require.Equal(t, 2, total)
	assert.Equal(t, []string{"z", "y"}, []string{list[0].Subject, list[1].Subject})
	_, total, err = s.Assignments(t.Context(), "acme", a.ID, guardrails.MemberKind, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
}

func assignmentsList(t *testing.T, set store.Set) {
	t.Helper()
	s, a, b := set.Guardrails, someGuardrail(1), someGuardrail(2)
	createGuardrails(t, s, a, b)
	assign(t, s, 1, a.ID, guardrails.MemberKind, "u", "v")
	assign(t, s, 3, b.ID, guardrails.MemberKind, "w")
	twin := someAssignment(4, b.ID, guardrails.MemberKind, "x")
	twin.CreatedAt = someAssignment(3, b.ID, guardrails.MemberKind, "w").CreatedAt
	_, err := s.Assign(t.Context(), []guardrails.Assignment{twin}, guardrailChange("assign"))
	require.NoError(t, err)
	for _, part := range []struct {
		id            uuid.UUID
		offset, limit int
		want          []string
		total         int
	}{
		{uuid.Nil, 0, 10, []string{"x", "w", "v", "u"}, 4},
		{uuid.Nil, 1, 2, []string{"w", "v"}, 4},
		{a.ID, 0, 10, []string{"v", "u"}, 2},
		{a.ID, 2, 10, []string{}, 2},
	} {
		list, total, err := s.Assignments(t.Context(), "acme", part.id, guardrails.MemberKind, part.offset, part.limit)
		require.NoError(t, err)
		got := []string{}
		for _, row := range list {
			got = append(got, row.Subject)
		}
		assert.Equal(t, part.want, got)
		assert.Equal(t, part.total, total)
	}
}

func assignRivals(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Guardrails
	list := []guardrails.Guardrail{someGuardrail(1), someGuardrail(2), someGuardrail(3)}
	createGuardrails(t, s, list...)
	var wg sync.WaitGroup
	for i := range 48 {
		wg.Go(func() {
			subjects := []string{"x", "y"}
			if i%2 == 0 {
				subjects = []string{"y", "x"}
			}
			rows := []guardrails.Assignment{}
			for j, name := range subjects {
				rows = append(rows, someAssignment(byte(2*i+j+1), list[i%len(list)].ID, guardrails.KeyKind, name))
			}
			_, err := s.Assign(t.Context(), rows, guardrailChange("assign"))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	rows, total, err := s.Assignments(t.Context(), "acme", uuid.Nil, guardrails.KeyKind, 0, 100)
	require.NoError(t, err)
	require.Equal(t, 2, total, "exactly one guardrail per key")
	assert.Equal(t, rows[0].Guardrail, rows[1].Guardrail, "the last transaction set both")
	sum := 0
	for _, g := range list {
		_, n, err := s.Assignments(t.Context(), "acme", g.ID, guardrails.KeyKind, 0, 100)
		require.NoError(t, err)
		sum += n
	}
	assert.Equal(t, 2, sum)
}

func guardrailsApplied(t *testing.T, set store.Set) {
	t.Helper()
	s, usual, member, key := set.Guardrails, someGuardrail(1), someGuardrail(2), someGuardrail(3)
	usual.Default = true
	listed := someGuardrail(4) // in the workspace, without assignments
	createGuardrails(t, s, usual, member, key, listed)
	assign(t, s, 1, member.ID, guardrails.MemberKind, "ann")
	assign(t, s, 2, key.ID, guardrails.KeyKind, "hash")
	for name, c := range map[string]struct {
		p    router.Principal
		want guardrails.Applied
	}{
		"all three":       {router.Principal{Account: "acme", Workspace: guardrailsIn, Member: "ann", KeyHash: "hash"}, guardrails.Applied{Workspace: &usual, Member: &member, Key: &key}},
		"no creator":      {router.Principal{Account: "acme", Workspace: guardrailsIn, KeyHash: "hash"}, guardrails.Applied{Workspace: &usual, Key: &key}},
		"elsewhere":       {router.Principal{Account: "acme", Workspace: guardrailsElse, Member: "ann", KeyHash: "other"}, guardrails.Applied{Member: &member}},
		"crossed":         {router.Principal{Account: "acme", Member: "hash", KeyHash: "ann"}, guardrails.Applied{}},
		"another account": {router.Principal{Account: "other", Workspace: guardrailsIn, Member: "ann", KeyHash: "hash"}, guardrails.Applied{}},
		"nobody":          {router.Principal{}, guardrails.Applied{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := applied(t.Context(), s, c.p)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

// guardrailsOfNobody creates a default guardrail of no workspace, and assigns another one to
// subjects with empty names.
func guardrailsOfNobody(t *testing.T, set store.Set) {
	t.Helper()
	s, usual, other := set.Guardrails, someGuardrail(1), someGuardrail(2)
	usual.Default, usual.Workspace = true, ""
	createGuardrails(t, s, usual, other)
	assign(t, s, 1, other.ID, guardrails.KeyKind, "")
	assign(t, s, 2, other.ID, guardrails.MemberKind, "")
	got, err := applied(t.Context(), s, router.Principal{Account: "acme"})
	require.NoError(t, err)
	assert.Zero(t, got)
}

func assignForeign(t *testing.T, set store.Set) {
	t.Helper()
	s, g, theirs := set.Guardrails, someGuardrail(1), someGuardrail(2)
	theirs.Account = "other"
	createGuardrails(t, s, g, theirs)
	assert.Equal(t, 1, assign(t, s, 1, g.ID, guardrails.KeyKind, "x"))
	row := someAssignment(2, theirs.ID, guardrails.KeyKind, "x")
	row.Account = "other"
	n, err := s.Assign(t.Context(), []guardrails.Assignment{row}, guardrailChange("assign"))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	for account, want := range map[string]guardrails.Guardrail{"acme": g, "other": theirs} {
		got, err := applied(t.Context(), s, router.Principal{Account: account, KeyHash: "x"})
		require.NoError(t, err)
		assert.Equal(t, guardrails.Applied{Key: &want}, got)
		_, total, err := s.Assignments(t.Context(), account, uuid.Nil, guardrails.KeyKind, 0, 10)
		require.NoError(t, err)
		assert.Equal(t, 1, total)
	}
	n, err = s.Unassign(t.Context(), "other", theirs.ID, guardrails.KeyKind, []string{"x"}, guardrailChange("unassign"))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	_, total, err := s.Assignments(t.Context(), "acme", g.ID, guardrails.KeyKind, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
}

// assignMany assigns more subjects than fit into one statement of a store.
func assignMany(t *testing.T, set store.Set) {
	t.Helper()
	const many = 1003
	s, a, b := set.Guardrails, someGuardrail(1), someGuardrail(2)
	createGuardrails(t, s, a, b)
	subjects := make([]string, many)
	for i := range subjects {
		subjects[i] = strconv.Itoa(i)
	}
	assert.Equal(t, many, assign(t, s, 1, a.ID, guardrails.KeyKind, subjects...))
	assert.Equal(t, 100, assign(t, s, 1, b.ID, guardrails.KeyKind, subjects[100:200]...))
	assert.Equal(t, 100, assign(t, s, 1, a.ID, guardrails.KeyKind, subjects[:200]...))
	n, err := s.Unassign(t.Context(), "acme", a.ID, guardrails.KeyKind, append(subjects[:many-1:many-1], "none"), guardrailChange("unassign"))
	require.NoError(t, err)
	assert.Equal(t, many-1, n)
	list, total, err := s.Assignments(t.Context(), "acme", uuid.Nil, guardrails.KeyKind, 0, many)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
	require.Len(t, list, 1)
	assert.Equal(t, subjects[many-1], list[0].Subject)
}
