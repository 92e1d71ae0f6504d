package activity_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// silent is a store that never answers.
type silent struct{ activity.Store }

func (silent) Record(ctx context.Context, _ []router.Event) error {
	<-ctx.Done()
	return ctx.Err()
}

// A call whose caller has hung up is recorded, too, but only for so long.
func TestInterceptOfASilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := activity.New(activity.Config{Store: silent{}})
		require.NoError(t, err)
		ctx, hangUp := context.WithCancel(t.Context())
		hangUp()
		began := time.Now()
		_, err = s.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil })(
			ctx, &router.Call{Principal: router.Principal{Account: "acme"}})
		var told *router.Error
		require.ErrorAs(t, err, &told)
		assert.Equal(t, router.NoCapacity, told.Class)
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// away is a store that cannot be reached.
type away struct{ activity.Store }

func (away) Record(context.Context, []router.Event) error { return router.ErrUnavailable }

// While the store is away a call fails, unless it cost nothing and FreeUnrecorded is
// set.
func TestFreeUnrecorded(t *testing.T) {
	for _, tt := range []struct {
		cost    router.USD
		through bool
		want    bool
	}{{0, false, false}, {0, true, true}, {1, true, false}} {
		s, err := activity.New(activity.Config{Store: away{}, FreeUnrecorded: tt.through})
		require.NoError(t, err)
		c := &router.Call{Principal: router.Principal{Account: "acme"}}
		endpoint := &router.Endpoint{}
		c.Report.Legs = []*router.Leg{{Attempts: []router.AttemptRecord{{Endpoint: endpoint, Billed: true, Cost: tt.cost}}}}
		_, err = s.Intercept(func(context.Context, *router.Call) (*router.Result, error) {
			return &router.Result{Endpoint: endpoint}, nil
		})(t.Context(), c)
		assert.Equal(t, tt.want, err == nil, "%+v: %v", tt, err)
	}
}

// A dry run asks no upstream, so there is nothing to record and the store is not
// needed.
func TestADryRunRecordsNothing(t *testing.T) {
	s, err := activity.New(activity.Config{Store: away{}})
	require.NoError(t, err)
	c := &router.Call{Principal: router.Principal{Account: "acme"}, DryRun: true}
	res, err := s.Intercept(func(context.Context, *router.Call) (*router.Result, error) { return &router.Result{}, nil })(t.Context(), c)
	require.NoError(t, err)
	assert.NotNil(t, res)
}
