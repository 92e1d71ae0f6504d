package proofs

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/systemone"
)

// limit is the limit of each key: the cost of its first two calls, and of one more.
const limit = 4 * cent

// remote is a service whose database is behind a wire, with a second service on the
// same database without the wire, which is used for checks.
type remote struct {
	t       *testing.T
	dsn     string
	near    store.Set
	managed *signalbox.Service // on near
	wire    *wire
	who     router.Principal // of the current key
	secret  router.Secret
	told    router.USD // sum of the costs in the answers

	answered int                  // calls
	asked    []*routertest.Script // upstreams
}

func newRemote(t *testing.T) *remote {
	t.Helper()
	r := &remote{t: t, dsn: pgtest.DSN(t, pgtest.Config{}), wire: &wire{}}
	pool, err := pgxpool.New(t.Context(), r.dsn)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	r.near, err = postgres.New(t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(t, err)
	r.managed = r.service(r.near)
	_, err = demo.Seed(t.Context(), r.managed)
	require.NoError(t, err)
	return r
}

// far opens the stores behind the wire.
func (r *remote) far() (store.Set, *pgxpool.Pool) {
	r.t.Helper()
	cfg, err := pgxpool.ParseConfig(r.dsn)
	require.NoError(r.t, err)
	cfg.ConnConfig.DialFunc = r.wire.dial
	pool, err := pgxpool.NewWithConfig(r.t.Context(), cfg)
	require.NoError(r.t, err)
	set, err := postgres.New(r.t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
	require.NoError(r.t, err)
	return set, pool
}

// service returns a whole service with empty caches. Its cheaper upstream fails once,
// so that a hold is raised.
func (r *remote) service(set store.Set) *signalbox.Service {
	r.t.Helper()
	ant, bee := &routertest.Script{}, &routertest.Script{}
	ant.Add(failing())
	r.answered, r.asked = 0, []*routertest.Script{ant, bee}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: routertest.Model, Permaslug: routertest.Model + "-1"}},
		[]router.ProviderInfo{
			{Slug: "ant", Client: ant},
			{Slug: "bee", Client: bee},
		},
		[]router.Endpoint{
			{Provider: "ant", Model: routertest.Model, UpstreamModel: "1", Pricing: fee(cent)},
			{Provider: "bee", Model: routertest.Model, UpstreamModel: "2", Pricing: fee(2 * cent)},
		},
	)
	require.NoError(r.t, err)
	s, err := signalbox.New(signalbox.Config{Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler), Now: noon})
	require.NoError(r.t, err)
	return s
}

// newKey creates a key with a limit, for the calls that follow.
func (r *remote) newKey() {
	r.t.Helper()
	by := demo.Program()
	k, secret, err := r.managed.Keys.Create(r.t.Context(), by, keys.Key{Name: "key", Creator: demo.Member, Limit: new(limit)})
	require.NoError(r.t, err)
	r.who = router.Principal{Account: k.Account, Workspace: k.Workspace, Member: k.Creator, KeyHash: k.Hash}
	r.secret, r.told = secret, 0
}

// call makes a call, and reports whether it failed because of the wire.
func (r *remote) call(s *signalbox.Service) (failed bool) {
	cheap, err := systemone.DecodePreferences([]byte(`{"sort":"price"}`))
	require.NoError(r.t, err)
	res, err := s.Router.Decide(r.t.Context(), &router.Call{Secret: r.secret, Request: &systemone.Request{
		Model: routertest.Model, State: json.RawMessage(`"x"`), Provider: cheap,
		Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: json.RawMessage(`"?"`)}},
	}})
	if err == nil {
		r.told += res.Cost
		r.answered++
		return false
	}
	var told *router.Error
	require.ErrorAs(r.t, err, &told)
	if told.Class == router.PaymentRequired {
		return false
	}
	assert.Equal(r.t, router.NoCapacity, told.Class, err)
	return true
}

// given returns how many answers the upstreams have given.
func (r *remote) given() (n int) {
	for _, script := range r.asked {
		n += len(script.Attempts())
	}
	return max(n-1, 0) // the first was a failure
}

// resigned is a ledger whose errors are final, so that the router does not retry on a
// wire that stays broken. The call ends as it would after all retries.
type resigned struct {
	router.Ledger
	router.Recorder
}

func finally(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", router.ErrFinal, err)
	}
	return err
}

func (l resigned) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	return finally(l.Recorder.SettleWith(ctx, id, cost, events))
}

func (l resigned) Void(ctx context.Context, id uuid.UUID) error {
	return finally(l.Ledger.Void(ctx, id))
}

// stands returns the balance of the key. It requires first that the limit is not
// exceeded, and that the events of the key sum up to what it has spent.
func (r *remote) stands() router.Balance {
	r.t.Helper()
	list, err := r.near.Ledger.Balances(r.t.Context(), []router.Line{router.OwnerKey.Line(r.who, "ever")})
	require.NoError(r.t, err)
	on := list[0]
	assert.LessOrEqual(r.t, on.Spent.Credit+on.Held.Credit, limit)
	items, err := r.near.Activity.Items(r.t.Context(),
		activity.Range{Account: demo.Account, KeyHash: r.who.KeyHash, From: "2026-11-21", To: "2026-11-21"})
	require.NoError(r.t, err)
	sum := router.USD(0)
	for _, item := range items {
		sum += item.Cost.Credit
	}
	assert.Equal(r.t, on.Spent.Credit, sum)
	return on
}

// run makes calls while the n-th message breaks the wire, and checks what they leave.
func (r *remote) run(how breaks, n int) (broke, failed bool) {
	r.newKey()
	set, pool := r.far()
	if how == gone {
		recorder, ok := set.Ledger.(router.Recorder)
		require.True(r.t, ok)
		set.Ledger = resigned{set.Ledger, recorder}
	}
	s := r.service(set)
	r.wire.begin(how, n)
	for range 4 {
		failed = r.call(s) || failed
		assert.GreaterOrEqual(r.t, r.stands().Spent.Credit, r.told, "what was answered is settled")
	}
	broke = r.wire.end()
	if how != gone {
		assert.Equal(r.t, r.given(), r.answered, "message %d: who has an upstream's answer gets it", n)
	}
	pool.Close() // waits until no connection is in use
	_, err := r.near.Ledger.Expire(context.WithoutCancel(r.t.Context()), noon().Add(time.Hour), 100, router.ExpirePost)
	require.NoError(r.t, err)
	assert.Zero(r.t, r.stands().Held, "message %d", n)
	return broke, failed
}

// Each message of a whole service to PostgreSQL in turn breaks the connection. No limit
// is exceeded, no charge of an answered call is lost, other calls get an error, and
// what is still held ends at its deadline. The caller gets what an upstream has answered,
// unless the database stays away.
func TestTheNthMessageBreaksTheWire(t *testing.T) {
	t.Parallel()
	for _, how := range []breaks{unsent, unanswered, away, gone} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			r := newRemote(t)
			n, step, runs, errs := 1, 1, 0, 0
			if os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
				step = 5
			}
			for ; ; n += step {
				broke, failed := r.run(how, n)
				if !broke {
					require.False(t, failed)
					assert.Equal(t, limit, r.told, "all went well: two cents, and one, and one")
					break
				}
				runs++
				if failed {
					errs++
				}
			}
			t.Logf("%d of %d messages broke the wire, of which %d failed a call", runs, n-1, errs)
			assert.Greater(t, n, 20, "so many may break it")
			assert.Positive(t, errs)
			if how == unanswered {
				assert.Less(t, errs, runs, "what became of a commit is found out")
			}
			found, err := r.verify()
			require.NoError(t, err)
			assert.Empty(t, found.Differences)
		})
	}
}

func (r *remote) verify() (store.Verified, error) {
	pool, err := pgxpool.New(r.t.Context(), r.dsn)
	if err != nil {
		return store.Verified{}, err
	}
	defer pool.Close()
	return postgres.Verify(r.t.Context(), pool, postgres.Config{Schema: pgtest.Schema(pool)})
}
