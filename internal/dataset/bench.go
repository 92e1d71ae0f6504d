package dataset

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// Bench measures, with a single caller, the operations on d that must stay fast. It reports p50
// and p99 over some hundreds or thousands of calls, whatever -benchtime says. The database must
// hold d; open opens the stores.
func Bench(b *testing.B, d *Data, open func() (set store.Set, shut func(), err error)) {
	b.Helper()
	ctx := b.Context()
	b.Run("StartUp", func(b *testing.B) {
		times(b, 20, func(int) error {
			_, shut, err := open()
			if err == nil {
				shut()
			}
			return err
		})
	})
	set, shut, err := open()
	if err != nil {
		b.Fatal(err)
	}
	defer shut()
	org, err := organization.New(organization.Config{Store: set.Organization})
	if err != nil {
		b.Fatal(err)
	}
	config := keys.Config{Store: set.Keys, Ledger: set.Ledger, Directory: directory{org}}
	b.Run("KeyGet", func(b *testing.B) {
		times(b, 2000, func(n int) error {
			_, err := set.Keys.Get(ctx, d.Hash(d.scattered(n)))
			return err
		})
	})
	b.Run("Authenticate", func(b *testing.B) { // reads the key, and whether its workspace exists
		times(b, 2000, func(n int) error {
			service, err := keys.New(config) // with an empty cache
			if err == nil {
				_, err = service.Authenticate(ctx, d.Secret(d.scattered(n)))
			}
			return err
		})
	})
	b.Run("KeysFirstPage", func(b *testing.B) { benchPage(b, d, config) })
	b.Run("Activity", func(b *testing.B) { benchActivity(b, d, set, org) })
}

func benchPage(b *testing.B, d *Data, config keys.Config) {
	b.Helper()
	config.Now = func() time.Time { return d.day(days - 1) } // a day with spending
	service, err := keys.New(config)
	if err != nil {
		b.Fatal(err)
	}
	by := router.Actor{Principal: router.Principal{Account: d.Account(0)}}
	times(b, 100, func(int) error {
		list, err := service.List(b.Context(), by, keys.Query{})
		if err == nil && len(list) != keys.PageSize {
			err = errors.New("dataset: the page is not full")
		}
		return err
	})
}

func benchActivity(b *testing.B, d *Data, set store.Set, org *organization.Service) {
	b.Helper()
	service, err := activity.New(activity.Config{
		Store: set.Activity, Directory: directory{org}, Now: func() time.Time { return d.now },
	})
	if err != nil {
		b.Fatal(err)
	}
	times(b, 50, func(int) error {
		items, err := service.Items(b.Context(), d.Account(0), activity.Query{})
		if err == nil && len(items) < days*endpoints/2 {
			err = errors.New("dataset: activity is missing")
		}
		return err
	})
}

// scattered returns the n-th of keys that are far apart.
func (d *Data) scattered(n int) int { return n * 7919 % d.size.Keys }

// times reports the durations of f over a number of calls in each iteration.
func times(b *testing.B, many int, f func(n int) error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		for n := range many {
			start := time.Now()
			if err := f(n); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// directory is the organization of d for the policies.
type directory struct{ org *organization.Service }

// Membership implements [keys.Directory]. It is not called.
func (directory) Membership(context.Context, string, string) (keys.Membership, error) {
	return keys.Membership{Organization: true}, nil
}

// Workspace implements [keys.Directory].
func (d directory) Workspace(ctx context.Context, account, id string) (string, error) {
	if id == "" {
		return d.org.DefaultWorkspace(ctx, account)
	}
	has, err := d.org.HasWorkspace(ctx, account, id)
	if err == nil && !has {
		err = keys.ErrNotFound
	}
	return id, err
}

// Workspaces implements [activity.Directory].
func (d directory) Workspaces(ctx context.Context, account string) ([]string, error) {
	first, err := d.org.DefaultWorkspace(ctx, account)
	if err != nil {
		return nil, err
	}
	all, err := d.org.LiveWorkspaces(ctx, account)
	return append([]string{first}, all...), err
}

// IsOrganization implements [activity.Directory].
func (directory) IsOrganization(context.Context, string) (bool, error) { return true, nil }
