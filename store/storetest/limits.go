package storetest

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// testLimits is for stores that share a database with the ledger: a change of limits makes
// holds under older limits stale.
func testLimits(t *testing.T, open Open) {
	t.Helper()
	set := open(t)
	if set.Ledger == nil || set.Keys == nil || set.Organization == nil || set.Guardrails == nil {
		t.Skip("not all of the stores that keep limits")
	}
	if a, err := set.Guardrails.Applied(t.Context(), spender()); err != nil || a.Versions == nil {
		t.Skip("the stores share no versions with the ledger")
	}
	for name, change := range limitChanges() {
		t.Run("a hold by limits that are old is refused: "+name, func(t *testing.T) { newLimits(t, open).stale(change) })
	}
	for name, test := range map[string]func(*limits){
		"versions are compared before limits":                (*limits).versionFirst,
		"a raise compares no version":                        (*limits).raise,
		"changes of other owners do not make a hold stale":   (*limits).others,
		"a version without a line of the hold is ignored":    (*limits).noLine,
		"no concurrent hold passes a limit that has changed": (*limits).rivals,
	} {
		t.Run(name, func(t *testing.T) { test(newLimits(t, open)) })
	}
}

// spender returns the principal of the tests. All of its owners have limits.
func spender() router.Principal {
	return router.Principal{Account: "acme", Workspace: "w1", Member: "ann", KeyHash: "hash"}
}

// limits are stores with an account, its workspace, a key, a default guardrail, and a guardrail
// that covers the key and its creator.
type limits struct {
	store.Set

	t      *testing.T
	holds  uint64
	key    keys.Key
	home   guardrails.Guardrail
	spread guardrails.Guardrail
}

func newLimits(t *testing.T, open Open) *limits {
	t.Helper()
	l := &limits{Set: open(t), t: t, key: sampleKey("hash"), home: someGuardrail(1), spread: someGuardrail(2)}
	a := organization.Account{ID: "acme", DefaultWorkspace: "w1", Version: 1}
	w := organization.Workspace{ID: "w1", Account: "acme", Slug: "home", Version: 1}
	require.NoError(t, l.Organization.CreateAccount(t.Context(), a, organization.Member{ID: "ann", Version: 1}, w, orgChange("acme")))
	l.key.Account, l.key.Workspace, l.key.Version = "acme", "w1", 1
	require.NoError(t, l.Keys.Create(t.Context(), l.key, keyChange("create", "hash")))
	l.home.Default, l.home.Workspace = true, "w1"
	createGuardrails(t, l.Guardrails, l.home, l.spread)
	assign(t, l.Guardrails, 1, l.spread.ID, guardrails.KeyKind, "hash", "other")
	assign(t, l.Guardrails, 3, l.spread.ID, guardrails.MemberKind, "ann")
	return l
}

// versions returns the versions as policies read them now.
func (l *limits) versions() []router.Version {
	l.t.Helper()
	ctx, p := l.t.Context(), spender()
	list := []router.Version{{Line: router.OwnerKey.Line(p, "ever"), N: 99}}
	if k, err := l.Keys.Get(ctx, "hash"); err == nil {
		list[0].N = k.Version
	}
	a, err := l.Organization.Account(ctx, "acme")
	require.NoError(l.t, err)
	list = append(list, router.Version{Line: router.OwnerAccount.Line(p, "ever"), N: a.Version})
	of := router.Version{Line: router.OwnerWorkspace.Line(p, "ever"), N: 99}
	if w, err := l.Organization.Workspace(ctx, "acme", "w1"); err == nil {
		of.N = w.Version
	}
	covers, err := l.Guardrails.Applied(ctx, p)
	require.NoError(l.t, err)
	require.Len(l.t, covers.Versions, 3)
	return append(append(list, of), covers.Versions...)
}

// hold returns a hold that states versions.
func (l *limits) hold(versions []router.Version) router.Hold {
	l.holds++
	h := router.Hold{Amount: amount(1, 1), Deadline: noon(), Versions: versions}
	for _, o := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for _, i := range []router.Interval{router.Lifetime, router.Daily} {
			h.Lines = append(h.Lines, o.Line(spender(), i.Window(noon())))
		}
	}
	binary.BigEndian.PutUint64(h.ID[8:], l.holds)
	return h
}

// isStale requires that a hold is refused for these versions, and that nothing is held.
func (l *limits) isStale(h router.Hold, want ...int) {
	l.t.Helper()
	before := l.held(h)
	var stale *router.StaleError
	require.ErrorAs(l.t, l.Ledger.Reserve(l.t.Context(), h), &stale)
	assert.Equal(l.t, want, stale.Versions)
	assert.Equal(l.t, before, l.held(h))
}

func (l *limits) held(h router.Hold) []router.Balance {
	l.t.Helper()
	list, err := l.Ledger.Balances(l.t.Context(), h.Lines)
	require.NoError(l.t, err)
	return list
}

// limitChange is a change of limits, and the indexes in [limits.versions] that it outdates.
type limitChange struct {
	change func(l *limits) error
	old    []int
}

func limitChanges() map[string]limitChange {
	replaceKey := func(l *limits) error {
		l.key.Limit = new(router.Dollar)
		return l.Keys.Replace(l.t.Context(), l.key, keyChange("update", "hash"))
	}
	account := organization.Account{ID: "acme", DefaultWorkspace: "w1", Prepaid: true, Version: 1}
	replaceGuardrail := func(g func(l *limits) guardrails.Guardrail) func(l *limits) error {
		return func(l *limits) error {
			next := g(l)
			next.Revision++
			return l.Guardrails.Replace(l.t.Context(), next, guardrailChange("update"))
		}
	}
	home := func(l *limits) guardrails.Guardrail { return l.home }
	spread := func(l *limits) guardrails.Guardrail { return l.spread }
	drop := func(g func(l *limits) guardrails.Guardrail) func(l *limits) error {
		return func(l *limits) error {
			return l.Guardrails.Delete(l.t.Context(), "acme", g(l).ID, guardrailChange("delete"))
		}
	}
	return map[string]limitChange{
		"a key is replaced": {replaceKey, []int{0}},
		"a key is deleted": {func(l *limits) error {
			return l.Keys.Delete(l.t.Context(), l.key, keyChange("delete", "hash"))
		}, []int{0}},
		"an account is replaced": {func(l *limits) error {
			return l.Organization.ReplaceAccount(l.t.Context(), account, orgChange("acme"))
		}, []int{1}},
		"an account pays": {func(l *limits) error {
			p := organization.Payment{ID: "p", Account: "acme", Amount: 5}
			return l.Organization.AddPayment(l.t.Context(), p, account, orgChange("acme"))
		}, []int{1}},
		"a workspace is replaced": {func(l *limits) error {
			w := organization.Workspace{ID: "w1", Account: "acme", Slug: "home", IncludeBYOK: true, Version: 1}
			return l.Organization.ReplaceWorkspace(l.t.Context(), w, orgChange("acme"))
		}, []int{2}},
		"a workspace is deleted": {func(l *limits) error {
			return l.Organization.DeleteWorkspace(l.t.Context(), "acme", "w1", orgChange("acme"))
		}, []int{2}},
		"a default guardrail is replaced": {replaceGuardrail(home), []int{3}},
		"a default guardrail is deleted":  {drop(home), []int{3}},
		"a default guardrail is made": {func(l *limits) error {
			if err := drop(home)(l); err != nil {
				return err
			}
			again := l.home
			again.ID = uuid.UUID{9}
			return l.Guardrails.Create(l.t.Context(), again, guardrailChange("create"))
		}, []int{3}},
		"a guardrail is replaced": {replaceGuardrail(spread), []int{4, 5}},
		"a guardrail is deleted":  {drop(spread), []int{4, 5}},
		"a member has another guardrail": {func(l *limits) error {
			_, err := l.Guardrails.Assign(l.t.Context(),
				[]guardrails.Assignment{someAssignment(7, l.home.ID, guardrails.MemberKind, "ann")}, guardrailChange("assign"))
			return err
		}, []int{4}},
		"a key has a guardrail no longer": {func(l *limits) error {
			_, err := l.Guardrails.Unassign(l.t.Context(), "acme", l.spread.ID, guardrails.KeyKind, []string{"hash"}, guardrailChange("unassign"))
			return err
		}, []int{5}},
	}
}

// stale tries a change before and after a hold exists.
func (l *limits) stale(c limitChange) {
	before := l.versions()
	require.NoError(l.t, c.change(l))
	l.isStale(l.hold(before), c.old...)
	require.NoError(l.t, l.Ledger.Reserve(l.t.Context(), l.hold(l.versions())))
	l.isStale(l.hold(before), c.old...)
	require.NoError(l.t, l.Ledger.Reserve(l.t.Context(), l.hold(l.versions())))
	assert.Equal(l.t, amount(2, 2), l.held(l.hold(nil))[0].Held)
}

func (l *limits) change() {
	l.t.Helper()
	require.NoError(l.t, l.Keys.Replace(l.t.Context(), l.key, keyChange("update", "hash")))
	l.key.Version++
}

func (l *limits) versionFirst() {
	h := l.hold(l.versions())
	h.Caps = []router.Cap{{Line: h.Lines[0], Max: 0}}
	l.change()
	l.isStale(h, 0)
	h.Versions = l.versions()
	var refused *router.LimitError
	require.ErrorAs(l.t, l.Ledger.Reserve(l.t.Context(), h), &refused)
}

func (l *limits) raise() {
	h := l.hold(l.versions())
	require.NoError(l.t, l.Ledger.Reserve(l.t.Context(), h))
	l.change()
	h.Amount = amount(5, 5)
	require.NoError(l.t, l.Ledger.Reserve(l.t.Context(), h))
	assert.Equal(l.t, amount(5, 5), l.held(h)[0].Held)
}

func (l *limits) others() {
	other := sampleKey("other")
	other.Account, other.Workspace, other.Version = "acme", "w2", 1
	require.NoError(l.t, l.Keys.Create(l.t.Context(), other, keyChange("create", "other")))
	w := organization.Workspace{ID: "w2", Account: "acme", Slug: "lab", Version: 1}
	require.NoError(l.t, l.Organization.CreateWorkspace(l.t.Context(), w, orgChange("acme")))
	before := l.versions()
	require.NoError(l.t, l.Keys.Replace(l.t.Context(), other, keyChange("update", "other")))
	require.NoError(l.t, l.Organization.ReplaceWorkspace(l.t.Context(), w, orgChange("acme")))
	_, err := l.Guardrails.Unassign(l.t.Context(), "acme", l.spread.ID, guardrails.KeyKind, []string{"other"}, guardrailChange("unassign"))
	require.NoError(l.t, err)
	require.NoError(l.t, l.Ledger.Reserve(l.t.Context(), l.hold(before)))
}

func (l *limits) noLine() {
	l.change()
	h := l.hold([]router.Version{{Line: router.OwnerKey.Line(spender(), "ever"), N: 1}})
	h.Lines = h.Lines[:2]
	require.NoError(l.t, l.Ledger.Reserve(l.t.Context(), h))
}

// rivals reserve under the versions that they have read last, while a limit changes again and
// again. A hold that begins after a change must not be admitted under an older version.
func (l *limits) rivals() {
	var newest, past, admitted atomic.Int64 // newest is the version of the last change that has returned
	var wg sync.WaitGroup
	ctx, line := l.t.Context(), router.OwnerKey.Line(spender(), "ever")
	for range 100 {
		holds := make([]router.Hold, 5)
		for i := range holds {
			holds[i] = l.hold(nil)
		}
		wg.Go(func() {
			for _, h := range holds {
				k, err := l.Keys.Get(ctx, "hash")
				if err != nil {
					l.t.Error(err)
					return
				}
				h.Versions = []router.Version{{Line: line, N: k.Version}}
				begun := newest.Load()
				if l.Ledger.Reserve(ctx, h) == nil {
					admitted.Add(1)
					if k.Version < begun {
						past.Add(1)
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		if err := l.Keys.Replace(ctx, l.key, keyChange("update", "hash")); err != nil {
			l.t.Error(err)
			break
		}
		l.key.Version++
		newest.Store(l.key.Version)
		select {
		case <-done:
			running = false
		default:
		}
	}
	<-done
	assert.Zero(l.t, past.Load(), "of %d holds, while the limit changed %d times", admitted.Load(), l.key.Version)
	assert.EqualValues(l.t, admitted.Load(), l.held(l.hold(nil))[0].Held.Total, "what was refused holds nothing")
}
