package storetest

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// guardrailHistory runs the same random history on the store and on the store in memory, and
// requires the same answers.
func guardrailHistory(t *testing.T, set store.Set) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	a := &guardrailActor{r: rand.New(rand.NewPCG(seed, 0))}
	model := memory.New()
	for n := range 400 {
		a.number = n
		name, do := a.draw(t)
		want := do(model.Guardrails)
		require.Equal(t, want, do(set.Guardrails), "step %d: %s", n, name)
	}
	if set.Audit == nil {
		return
	}
	want, total, err := model.Audit.Changes(t.Context(), "acme", 0, 1000)
	require.NoError(t, err)
	got, n, err := set.Audit.Changes(t.Context(), "acme", 0, 1000)
	require.NoError(t, err)
	require.Equal(t, total, n)
	require.Equal(t, want, got)
}

// guardrailActor draws operations on few guardrails, workspaces and subjects, so that they
// often meet.
type guardrailActor struct {
	r      *rand.Rand
	number int
}

// answer is everything that a method returns.
type answer struct {
	value any
	total int
	err   error
}

func (a *guardrailActor) id() uuid.UUID { return uuid.UUID{15: byte(1 + a.r.IntN(4))} }
func (a *guardrailActor) account() string {
	return []string{"other", "acme"}[min(a.r.IntN(12), 1)]
}
func (a *guardrailActor) subject() string { return []string{"", "a", "b", "c", "A"}[a.r.IntN(5)] }
func (a *guardrailActor) at() time.Time   { return presetNow(a.r.IntN(4)) }
func (a *guardrailActor) workspace() string {
	return []string{guardrailsIn, guardrailsIn, guardrailsElse, ""}[a.r.IntN(4)]
}

func (a *guardrailActor) kind() guardrails.Kind {
	return []guardrails.Kind{guardrails.KeyKind, guardrails.MemberKind}[a.r.IntN(2)]
}

func (a *guardrailActor) guardrail() guardrails.Guardrail {
	g := someGuardrail(byte(a.number % 250))
	g.ID, g.Account, g.Workspace, g.Default = a.id(), a.account(), a.workspace(), a.r.IntN(2) == 0
	g.CreatedAt, g.Revision = a.at(), int64(1+a.r.IntN(3))
	return g
}

// subjects draws subjects, all different.
func (a *guardrailActor) subjects() (list []string) {
	for _, name := range []string{"c", "a", "", "A", "b"} {
		if a.r.IntN(2) == 0 {
			list = append(list, name)
		}
	}
	return list
}

func (a *guardrailActor) rows() (rows []guardrails.Assignment) {
	id, account, kind := a.id(), a.account(), a.kind()
	for i, name := range a.subjects() {
		row := someAssignment(byte(a.number%250), id, kind, name)
		row.ID, row.Account, row.CreatedAt = uuid.UUID{13: byte(a.number / 250), 14: byte(a.number % 250), 15: byte(i)}, account, a.at()
		rows = append(rows, row)
	}
	return rows
}

// draw draws an operation and its arguments.
func (a *guardrailActor) draw(t *testing.T) (name string, do func(guardrails.Store) answer) {
	t.Helper()
	if a.r.IntN(2) == 0 {
		return a.read(t)
	}
	ctx, g, id, account, change := t.Context(), a.guardrail(), a.id(), a.account(), guardrailChange(strconv.Itoa(a.number))
	switch a.r.IntN(12) {
	case 0, 1:
		return "create", func(s guardrails.Store) answer { return answer{err: s.Create(ctx, g, change)} }
	case 2:
		return "delete", func(s guardrails.Store) answer { return answer{err: s.Delete(ctx, account, id, change)} }
	case 3, 4:
		kind, subjects := a.kind(), a.subjects()
		return "unassign", func(s guardrails.Store) answer {
			n, err := s.Unassign(ctx, account, id, kind, subjects, change)
			return answer{value: n, err: err}
		}
	case 5, 6, 7:
		return "replace", a.replace(t, account, id)
	default:
		rows := a.rows()
		return "assign", func(s guardrails.Store) answer {
			n, err := s.Assign(ctx, rows, change)
			return answer{value: n, err: err}
		}
	}
}

func (a *guardrailActor) read(t *testing.T) (name string, do func(guardrails.Store) answer) {
	t.Helper()
	ctx, id, account, workspace, kind := t.Context(), a.id(), a.account(), a.workspace(), a.kind()
	offset, limit := a.r.IntN(3), a.r.IntN(5)
	switch a.r.IntN(4) {
	case 0:
		return "list", func(s guardrails.Store) answer {
			list, total, err := s.List(ctx, account, workspace, offset, limit)
			return answer{list, total, err}
		}
	case 1:
		if a.r.IntN(2) == 0 {
			id = uuid.Nil
		}
		return "assignments", func(s guardrails.Store) answer {
			list, total, err := s.Assignments(ctx, account, id, kind, offset, limit)
			return answer{list, total, err}
		}
	default:
		p := router.Principal{Account: account, Workspace: workspace, Member: a.subject(), KeyHash: a.subject()}
		return "applied", func(s guardrails.Store) answer {
			got, err := applied(ctx, s, p)
			return answer{value: got, err: err}
		}
	}
}

// replace reads a guardrail and replaces it with its next revision, or with a wrong one.
func (a *guardrailActor) replace(t *testing.T, account string, id uuid.UUID) func(guardrails.Store) answer {
	t.Helper()
	change, newer := guardrailChange(strconv.Itoa(a.number)), int64(a.r.IntN(3))
	return func(s guardrails.Store) answer {
		g, err := s.Get(t.Context(), account, id)
		if err != nil {
			return answer{value: g, err: err}
		}
		g.Name, g.Revision, g.UpdatedAt = change.Action, g.Revision+newer, presetNow(9)
		return answer{value: g, err: s.Replace(t.Context(), g, change)}
	}
}
