package storetest

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// guardrailCreateRivals creates a workspace's default guardrail many times at once, half of
// the times with the same ID.
func guardrailCreateRivals(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Guardrails
	var won atomic.Int32
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			g := someGuardrail(byte(1 + i%2*i))
			g.Default, g.Name = true, strconv.Itoa(i)
			if err := s.Create(t.Context(), g, guardrailChange("create")); err == nil {
				won.Add(1)
			} else {
				assert.ErrorIs(t, err, guardrails.ErrExists)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, won.Load())
	_, total, err := s.List(t.Context(), "acme", guardrailsIn, 0, 1)
	require.NoError(t, err)
	assert.Equal(t, 1, total)
}

// assignDeleteRivals deletes a guardrail while others assign and unassign it.
func assignDeleteRivals(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Guardrails
	for round := range 4 {
		dying, other := someGuardrail(byte(2*round+1)), someGuardrail(byte(2*round+2))
		createGuardrails(t, s, dying, other)
		assign(t, s, 1, dying.ID, guardrails.KeyKind, "a", "b", "c")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				rows := []guardrails.Assignment{
					someAssignment(10, dying.ID, guardrails.KeyKind, "d"+strconv.Itoa(i)),
					someAssignment(11, dying.ID, guardrails.KeyKind, "a"),
				}
				if _, err := s.Assign(t.Context(), rows, guardrailChange("assign")); err != nil {
					assert.ErrorIs(t, err, guardrails.ErrNotFound)
				}
			})
			wg.Go(func() {
				rows := []guardrails.Assignment{
					someAssignment(12, other.ID, guardrails.KeyKind, "c"),
					someAssignment(13, other.ID, guardrails.KeyKind, "b"),
				}
				_, err := s.Assign(t.Context(), rows, guardrailChange("assign"))
				assert.NoError(t, err)
			})
		}
		wg.Go(func() {
			assert.NoError(t, s.Delete(t.Context(), "acme", dying.ID, guardrailChange("delete")))
		})
		wg.Wait()
		rows, _, err := s.Assignments(t.Context(), "acme", uuid.Nil, guardrails.KeyKind, 0, 100)
		require.NoError(t, err)
		require.Len(t, rows, 2, "nothing is assigned to what is deleted")
		for _, row := range rows {
			assert.Equal(t, other.ID, row.Guardrail)
		}
		require.NoError(t, s.Delete(t.Context(), "acme", other.ID, guardrailChange("delete")))
	}
}

// appliedAtOnce moves a key and its creator from one guardrail to another, in one transaction,
// again and again. A reader must never see them at different guardrails.
func appliedAtOnce(t *testing.T, set store.Set) {
	t.Helper()
	s := set.Guardrails
	list := []guardrails.Guardrail{someGuardrail(1), someGuardrail(2)}
	createGuardrails(t, s, list...)
	both := func(n int) error {
		id := list[n%2].ID
		_, err := s.Assign(t.Context(), []guardrails.Assignment{
			someAssignment(byte(n+1), id, guardrails.KeyKind, "hash"), someAssignment(byte(n+1), id, guardrails.MemberKind, "ann"),
		}, guardrailChange("assign"))
		return err
	}
	require.NoError(t, both(0))
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !done.Load() {
				got, err := s.Applied(t.Context(), router.Principal{Account: "acme", Member: "ann", KeyHash: "hash"})
				if err != nil {
					t.Error(err)
					return
				}
				if !assert.NotNil(t, got.Key) || !assert.Equal(t, got.Key, got.Member) {
					return
				}
			}
		})
	}
	for n := range 40 {
		if err := both(n + 1); err != nil {
			t.Error(err)
		}
	}
	done.Store(true)
	wg.Wait()
}
