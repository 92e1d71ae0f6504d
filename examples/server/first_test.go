package main

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// beginner returns the seeder of a process that shares its stores with others.
func beginner(t *testing.T, stores store.Set) *seeder {
	t.Helper()
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "up", Client: &routertest.Script{}}},
		[]router.Endpoint{{Provider: "up", Model: "acme/judge"}},
	)
	require.NoError(t, err)
	s, err := signalbox.New(signalbox.Config{
		Catalog: catalog, Stores: stores, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return &seeder{s, stores, time.Now}
}

// count returns how many keys there are.
func count(t *testing.T, s *seeder) int {
	t.Helper()
	n, err := s.Keys.CountOf(t.Context(), demoAccount, "", demoAdmin)
	require.NoError(t, err)
	return n
}

func TestOneOfManyBeginners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := memory.New()
		firsts := make(chan *firstStart)
		for range 8 {
			s := beginner(t, stores)
			go func() {
				f, err := s.begin(context.Background(), false)
				assert.NoError(t, err)
				firsts <- f
			}()
		}
		f := <-firsts
		require.NotNil(t, f)
		synctest.Wait()
		select {
		case <-firsts:
			t.Fatal("others wait until the keys were shown")
		default:
		}
		require.NoError(t, f.shown(t.Context()))
		for range 7 {
			assert.Nil(t, <-firsts)
		}
		s := beginner(t, stores)
		assert.Equal(t, 2, count(t, s))
		p, err := s.Keys.Authenticate(t.Context(), f.inference)
		require.NoError(t, err)
		assert.Equal(t, f.home.ID, p.Workspace)
		a, err := s.Organization.Account(t.Context(), demoAccount)
		require.NoError(t, err)
		assert.Equal(t, "Demo", a.Name)
	})
}

func TestABeginnerThatDiesIsReplaced(t *testing.T) {
	for name, alone := range map[string]bool{"by who is alone": true, "by who waits": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stores := memory.New()
				dead, err := beginner(t, stores).begin(t.Context(), false)
				require.NoError(t, err)
				from := time.Now()
				s := beginner(t, stores)
				f, err := s.begin(t.Context(), alone)
				require.NoError(t, err)
				require.NotNil(t, f)
				if alone {
					assert.Zero(t, time.Since(from))
				} else {
					assert.Equal(t, 10*time.Second, time.Since(from))
				}
				assert.Equal(t, 2, count(t, s))
				_, err = s.Keys.Authenticate(t.Context(), dead.management)
				require.ErrorIs(t, err, keys.ErrRefused)
				require.ErrorIs(t, dead.shown(t.Context()), errOvertaken)
				require.NoError(t, f.shown(t.Context()))
				_, err = s.Keys.Authenticate(t.Context(), f.management)
				require.NoError(t, err)
			})
		})
	}
}

func TestALaterStartLeavesEverything(t *testing.T) {
	stores := memory.New()
	s := beginner(t, stores)
	f, err := s.begin(t.Context(), true)
	require.NoError(t, err)
	require.NoError(t, f.shown(t.Context()))
	by := router.Actor{Principal: router.Principal{Account: demoAccount}}
	require.NoError(t, s.Organization.DeleteWorkspace(t.Context(), by, f.lab.ID))
	require.NoError(t, s.Organization.RemoveMember(t.Context(), by, demoMember))
	for range 2 {
		s = beginner(t, stores)
		f, err := s.begin(t.Context(), true)
		require.NoError(t, err)
		assert.Nil(t, f)
	}
	assert.Equal(t, 2, count(t, s))
	_, n, err := s.Organization.Members(t.Context(), demoAccount, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
}

func TestBeginGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := memory.New()
		_, err := beginner(t, stores).begin(t.Context(), false)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = beginner(t, stores).begin(ctx, false)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
