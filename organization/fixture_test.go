package organization_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// noon is a Saturday.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bench is a service with one organization, "acme", owned by "ann".
type bench struct {
	*organization.Service
	set     store.Set
	account organization.Account
	by      router.Actor
	mu      sync.Mutex
	now     time.Time
	keys    map[string]int // by workspace, and by workspace/member
	books   books
}

// books is a ledger that is written to by hand.
type books map[router.Line]router.Balance

func (b books) Balances(_ context.Context, lines []router.Line) ([]router.Balance, error) {
	list := make([]router.Balance, len(lines))
	for i, l := range lines {
		list[i] = b[l]
	}
	return list, nil
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	b := &bench{set: memory.New(), now: noon, keys: map[string]int{}, books: books{}}
	b.Service = b.service(tb, b.set.Organization)
	var err error
	b.account, err = b.CreateAccount(tb.Context(), router.Actor{}, organization.NewAccount{
		ID: "acme", Name: "Acme", Owner: organization.Member{ID: "ann", Email: "ann@acme.example"},
	})
	require.NoError(tb, err)
	b.by = router.Actor{Principal: router.Principal{Account: "acme", Member: "ann", Management: true}, RequestID: "req-1"}
	return b
}

// service is another one on the same or another store.
func (b *bench) service(tb testing.TB, s organization.Store) *organization.Service {
	tb.Helper()
	service, err := organization.New(organization.Config{
		Store: s, Audit: b.set.Audit, Ledger: b.books,
		KeysIn: func(_ context.Context, account, workspace string) (int, error) {
			return b.keys[account+"/"+workspace], nil
		},
		KeysOf: func(_ context.Context, account, workspace, member string) (int, error) {
			return b.keys[account+"/"+workspace+"/"+member], nil
		},
		Now: func() time.Time {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.now
		},
	})
	require.NoError(tb, err)
	return service
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// east makes another workspace.
func (b *bench) east(tb testing.TB) organization.Workspace {
	tb.Helper()
	w, err := b.CreateWorkspace(tb.Context(), b.by, organization.NewWorkspace{Name: "East", Slug: "east"})
	require.NoError(tb, err)
	return w
}

// member adds a member who is no admin.
func (b *bench) member(tb testing.TB, id string) {
	tb.Helper()
	_, err := b.AddMember(tb.Context(), b.by, organization.Member{ID: id, Email: id + "@acme.example", Role: organization.RoleMember})
	require.NoError(tb, err)
}

// call runs the interceptor on a call and returns what it left on it.
func call(tb testing.TB, s *organization.Service, p router.Principal) (*router.Call, error) {
	tb.Helper()
	c := &router.Call{Principal: p}
	_, err := s.Intercept(func(context.Context, *router.Call) (*router.Result, error) {
		return &router.Result{}, nil
	})(tb.Context(), c)
	return c, err
}

// paths lists where err says that something is wrong.
func paths(tb testing.TB, err error) []string {
	tb.Helper()
	var invalid *systemone.InvalidError
	require.ErrorAs(tb, err, &invalid)
	var list []string
	for _, issue := range invalid.Issues {
		list = append(list, issue.Path)
	}
	return list
}
