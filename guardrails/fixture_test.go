package guardrails_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

const (
	workspace = "0198a000-0000-7000-8000-000000000001"
	elsewhere = "0198a000-0000-7000-8000-000000000002"
)

var (
	defaultID   = uuid.MustParse("0198a000-0000-7000-8000-0000000000d1")
	elsewhereID = uuid.MustParse("0198a000-0000-7000-8000-0000000000d2")
)

// rig is a service over a memory store with account acme, its two workspaces,
// members ann and bob, and keys a and b.
type rig struct {
	*guardrails.Service
	set   store.Set
	by    router.Actor
	now   time.Time
	reads *atomic.Int64 // number of calls of Store.Applied
}

// counting counts the calls of Applied.
type counting struct {
	guardrails.Store
	reads *atomic.Int64
	fail  error
}

func (c counting) Applied(ctx context.Context, p router.Principal) (guardrails.Applied, error) {
	c.reads.Add(1)
	if c.fail != nil {
		return guardrails.Applied{}, c.fail
	}
	return c.Store.Applied(ctx, p)
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{
		set: memory.New(), by: router.Actor{Principal: router.Principal{Account: "acme", Member: "ann", Management: true}, RequestID: "req"},
		now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), reads: new(atomic.Int64),
	}
	cfg := r.config()
	cfg.Store = counting{r.set.Guardrails, r.reads, nil}
	var err error
	r.Service, err = guardrails.New(cfg)
	require.NoError(t, err)
	return r
}

func (r *rig) config() guardrails.Config {
	return guardrails.Config{
		Store: r.set.Guardrails,
		Now:   func() time.Time { return r.now },
		Workspace: func(_ context.Context, account, id string) (string, error) {
			switch {
			case account != "acme":
				return "", guardrails.ErrNotFound
			case id == "", id == workspace:
				return workspace, nil
			case id == elsewhere:
				return elsewhere, nil
			}
			return "", guardrails.ErrNotFound
		},
		DefaultOf: func(_ context.Context, account string, id uuid.UUID) (string, error) {
			switch {
			case account == "acme" && id == defaultID:
				return workspace, nil
			case account == "acme" && id == elsewhereID:
				return elsewhere, nil
			}
			return "", guardrails.ErrNotFound
		},
		Key: func(_ context.Context, account, hash string) (name, label string, ok bool, err error) {
			return "name of " + hash, "sk-..." + hash, account == "acme" && (hash == "a" || hash == "b"), nil
		},
		IsMember: func(_ context.Context, account, user string) (bool, error) {
			return account == "acme" && (user == "ann" || user == "bob"), nil
		},
	}
}

// key is the principal of key a, which ann created, or of key b, which has no creator.
func key(hash string) router.Principal {
	p := router.Principal{Account: "acme", Workspace: workspace, KeyHash: hash}
	if hash == "a" {
		p.Member = "ann"
	}
	return p
}

func (r *rig) create(t testing.TB, p guardrails.Patch) guardrails.Guardrail {
	t.Helper()
	if !p.Name.Set {
		p.Name = router.To("g")
	}
	g, err := r.Create(t.Context(), r.by, "", p)
	require.NoError(t, err)
	return g
}

func (r *rig) assign(t testing.TB, g guardrails.Guardrail, kind guardrails.Kind, subject string) {
	t.Helper()
	_, err := r.Assign(t.Context(), r.by, g.ID, kind, []string{subject})
	require.NoError(t, err)
}

// put creates a guardrail from p and assigns it to key a or its member, or makes it the
// default of the workspace.
func (r *rig) put(t testing.TB, scope router.Source, p guardrails.Patch) guardrails.Guardrail {
	t.Helper()
	switch scope {
	case router.SourceWorkspace:
		g, err := r.Update(t.Context(), r.by, defaultID, p)
		require.NoError(t, err)
		return g
	case router.SourceMember:
		g := r.create(t, p)
		r.assign(t, g, guardrails.MemberKind, "ann")
		return g
	default:
		g := r.create(t, p)
		r.assign(t, g, guardrails.KeyKind, "a")
		return g
	}
}

// upstream answers every noul with yes and keeps the last state it was sent.
type upstream struct{ state *json.RawMessage }

func (u upstream) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	*u.state = a.Request.State
	var reply router.Reply
	for _, q := range a.Request.Questions {
		reply.Answers = append(reply.Answers, systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: 1})
	}
	return reply, nil
}

// ask returns a request with one question about a state.
func ask(state string, models ...string) *systemone.Request {
	return &systemone.Request{
		Models: systemone.Texts(models...), State: json.RawMessage(state),
		Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is it?"`)}},
	}
}
