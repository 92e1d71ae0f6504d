package flight_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/flight"
)

var errRead = errors.New("read")

// TestEveryWaiterGetsHowTheReadingEnded has 20 callers wait for one reading,
// however it ends, and then reads again.
func TestEveryWaiterGetsHowTheReadingEnded(t *testing.T) {
	for name, c := range map[string]struct {
		end  func() (int, error)
		want string // in the error
	}{
		"a value":     {func() (int, error) { return 7, nil }, ""},
		"an error":    {func() (int, error) { return 0, errRead }, "read"},
		"a panic":     {func() (int, error) { panic("boom") }, "panic: boom"},
		"a nil panic": {func() (int, error) { panic(nil) }, "panic"}, //nolint:govet // what it is for
		"a fault":     {func() (int, error) { return []int{}[len(t.Name())], nil }, "index out of range"},
		"no return":   {func() (int, error) { runtime.Goexit(); return 0, nil }, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g flight.Group[int]
				var all sync.WaitGroup
				open, reads := make(chan struct{}), 0
				for range 20 {
					all.Go(func() {
						n, err := g.Do(t.Context(), "k", time.Minute, func(context.Context) (int, error) {
							reads++
							<-open
							return c.end()
						})
						if c.want == "" {
							assert.Equal(t, 7, n)
							assert.NoError(t, err)
							return
						}
						assert.Zero(t, n)
						assert.ErrorContains(t, err, c.want)
					})
				}
				synctest.Wait()
				close(open)
				all.Wait()
				assert.Equal(t, 1, reads)
				n, err := g.Do(t.Context(), "k", time.Minute, func(context.Context) (int, error) { return 1, nil })
				require.NoError(t, err, "the next one begins anew")
				assert.Equal(t, 1, n)
			})
		})
	}
}

func TestPanicNamesItsPlace(t *testing.T) {
	require.ErrorContains(t, flight.Guard(func() error { panic("boom") }), "flight_test.go")
}

func TestReadingOutlivesTheCallerThatBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[int]
		read := func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		first, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := g.Do(first, "k", time.Minute, read)
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		began := time.Now()
		all.Go(func() {
			_, err := g.Do(t.Context(), "k", time.Hour, read)
			assert.Equal(t, time.Minute, time.Since(began), "the bound is that of the reading")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

// TestForgottenReadingIsNotJoined forgets a reading under way: the next caller
// reads anew, and the end of the old reading does not take the new one's place.
func TestForgottenReadingIsNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[int]
		var all sync.WaitGroup
		begin := func(n int) chan struct{} {
			open := make(chan struct{})
			all.Go(func() {
				got, err := g.Do(t.Context(), "k", time.Minute, func(context.Context) (int, error) {
					<-open
					return n, nil
				})
				assert.Equal(t, n, got)
				assert.NoError(t, err)
			})
			synctest.Wait()
			return open
		}
		first := begin(1)
		g.Forget("k")
		second := begin(2)
		close(first)
		synctest.Wait()
		all.Go(func() {
			got, err := g.Do(t.Context(), "k", time.Minute, func(context.Context) (int, error) { return 3, nil })
			assert.Equal(t, 2, got)
			assert.NoError(t, err)
		})
		synctest.Wait()
		close(second)
		all.Wait()
	})
}
