package hooks_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/store/memory"
)

// handler is a function as a handler.
type handler func(ctx context.Context, e hooks.Event) error

func (f handler) Handle(ctx context.Context, e hooks.Event) error { return f(ctx, e) }

// TestADeadReceiverCostsCallersNothing: a handler that hangs delays neither calls nor other
// receivers, and loses what its queue cannot hold, counted. Run ends when the handler does.
func TestADeadReceiverCostsCallersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &inbox{}
		var log bytes.Buffer
		var gaveUp time.Duration
		dead := handler(func(ctx context.Context, _ hooks.Event) error {
			began := time.Now()
			<-ctx.Done()
			gaveUp = time.Since(began)
			return ctx.Err()
		})
		h, err := hooks.New(hooks.Config{
			Receivers: []hooks.Receiver{{Name: "dead", Handler: dead}, {Name: "good", Handler: in}},
			Queue:     3, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			h.Run(ctx)
			close(ended)
		}()
		began := time.Now()
		for range 10 {
			h.Changed(router.Change{Action: "create"})
			synctest.Wait()
		}
		assert.Zero(t, time.Since(began))
		assert.Equal(t, []hooks.Counts{
			{Receiver: "dead", Dropped: 6, Waiting: 3}, // one is being handled
			{Receiver: "good", Delivered: 10},
		}, h.Counts())
		time.Sleep(hooks.HandleTime)
		synctest.Wait()
		assert.Equal(t, hooks.HandleTime, gaveUp)
		assert.Equal(t, hooks.Counts{Receiver: "dead", Failed: 1, Dropped: 6, Waiting: 2}, h.Counts()[0])
		stop()
		<-ended
		assert.Equal(t, hooks.Counts{Receiver: "dead", Failed: 2, Dropped: 8}, h.Counts()[0])
		assert.Contains(t, log.String(), "receiver=dead events=2")
	})
}

// TestAPanicOfAHandlerIsAnError: the receiver goes on with the next event.
func TestAPanicOfAHandlerIsAnError(t *testing.T) {
	s := newSite()
	h := s.hooks(t, hooks.Config{Receivers: receivers(handler(func(context.Context, hooks.Event) error { panic("boom") }))})
	for range 2 {
		h.Changed(router.Change{})
	}
	settle(t, h)
	assert.Equal(t, int64(2), h.Counts()[0].Failed)
}

// TestRunComparesAtEachInterval: an alert comes within one interval of the call.
func TestRunComparesAtEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, in := newSite(), &inbox{}
		h := s.hooks(t, hooks.Config{Receivers: receivers(in), Percents: []int{50}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			h.Run(ctx)
			close(ended)
		}()
		s.spend(t, h, ann, 9*router.Dollar, keyLimit)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Empty(t, in.budgets())
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Len(t, in.budgets(), 1)
		stop()
		<-ended
	})
}

// TestTheLastCallsOfAProcessAreNotForgotten: what they have reached is stored when Run
// ends, and another process delivers it.
func TestTheLastCallsOfAProcessAreNotForgotten(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(&inbox{}), Percents: []int{50}})
	s.spend(t, h, ann, 9*router.Dollar, keyLimit)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	h.Run(ctx)
	settle(t, s.hooks(t, hooks.Config{Receivers: receivers(in)}))
	assert.Len(t, in.budgets(), 1)
}

// TestAnAlertDeliveredAtTheEndIsDone: Run ends while a handler has the alert, which is not
// delivered again.
func TestAnAlertDeliveredAtTheEndIsDone(t *testing.T) {
	s, in := newSite(), &inbox{}
	ctx, stop := context.WithCancel(t.Context())
	last := handler(func(context.Context, hooks.Event) error {
		stop()
		return nil
	})
	h := s.hooks(t, hooks.Config{Receivers: receivers(last), Percents: []int{50}})
	s.spend(t, h, ann, 9*router.Dollar, keyLimit)
	require.NoError(t, h.Compare(ctx))
	require.True(t, h.HandleNext(ctx, 0))
	s.wait(hooks.AlertLease)
	settle(t, s.hooks(t, hooks.Config{Receivers: receivers(in)}))
	assert.Empty(t, in.budgets())
}

// TestReceiversGetTheTypesTheyWant: and nothing else enters their queue.
func TestReceiversGetTheTypesTheyWant(t *testing.T) {
	s, some, all := newSite(), &inbox{}, &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: []hooks.Receiver{
		{Handler: some, Types: []hooks.Type{hooks.BudgetReached}},
		{Handler: all},
	}})
	h.Changed(router.Change{})
	s.spend(t, h, ann, 5*router.Dollar, keyLimit)
	require.NoError(t, h.Compare(t.Context()))
	assert.Equal(t, 1, h.Counts()[0].Waiting)
	assert.Equal(t, 2, h.Counts()[1].Waiting)
	settle(t, h)
	assert.Len(t, some.events, 1)
	assert.Len(t, all.events, 2)
}

// TestNewRefuses lists every mistake that New finds.
func TestNewRefuses(t *testing.T) {
	in := receivers(&inbox{})
	var none *inbox
	for want, cfg := range map[string]hooks.Config{
		"Handler is nil":               {Receivers: receivers(nil)},
		"Receivers[0].Handler is nil":  {Receivers: receivers(none)},
		"unknown type \"x\"":           {Receivers: []hooks.Receiver{{Handler: &inbox{}, Types: []hooks.Type{"x"}}}},
		"has 0, which is not from":     {Receivers: in, Percents: []int{50, 0}},
		"has 101, which is not from":   {Receivers: in, Percents: []int{101}},
		"must not be negative":         {Receivers: in, Queue: -1},
		"Alerts is required for alert": {Receivers: in, Ledger: memory.New().Ledger},
	} {
		_, err := hooks.New(cfg)
		require.ErrorIs(t, err, hooks.ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
	_, err := hooks.New(hooks.Config{})
	require.NoError(t, err, "the zero value does nothing")
}
