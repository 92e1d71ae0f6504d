package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
	"github.com/signalbox/signalbox/router"
)

const (
	// alertLease is how long a process has to deliver an alert that it took. Then any
	// process may take it.
	alertLease = 10 * time.Minute
	// alertTries is how long an alert that no receiver accepts is tried.
	alertTries = 24 * time.Hour
	alertBatch = 100
	// closingTime bounds what a process stores when it ends.
	closingTime = 5 * time.Second
	// longestWindow is longer than any window but that of all time.
	longestWindow = 40 * 24 * time.Hour
)

// alert compares the budgets of recent calls, raises what they have reached, and
// delivers what is due.
func (h *Hooks) alert(ctx context.Context) error {
	return errors.Join(
		panics.Catch(func() error { return h.raiseDue(ctx) }),
		panics.Catch(func() error { return h.deliverDue(ctx) }),
	)
}

// raiseLast raises what the last calls of a process that ends have reached. Any process
// delivers it.
func (h *Hooks) raiseLast(ctx context.Context) {
	limited, cancel := closing(ctx)
	defer cancel()
	if err := panics.Catch(func() error { return h.raiseDue(limited) }); err != nil {
		h.cfg.Logger.WarnContext(ctx, "the budgets of the last calls could not be compared", slog.Any("error", err))
	}
}

// closing returns a context for what must be stored although ctx may be over.
func closing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), closingTime)
}

// raiseDue raises the alerts of the calls that were noted. Where that fails, they are
// compared again next time.
func (h *Hooks) raiseDue(ctx context.Context) (err error) {
	noted := h.watch.take()
	defer func() {
		if len(noted) > 0 {
			h.watch.putBack(noted)
		}
	}()
	balances, err := h.watch.balances(ctx, h.watch.lines(noted))
	if err != nil {
		return err
	}
	for at, n := range noted {
		for _, b := range h.watch.crossed(at, n, balances) {
			if err := h.raise(ctx, n.admitted, b); err != nil {
				return err
			}
		}
		delete(noted, at)
	}
	return nil
}

// raise stores an alert, unless it was raised before.
func (h *Hooks) raise(ctx context.Context, admitted time.Time, b Budget) error {
	now := h.cfg.Now()
	e := Event{ID: b.id(), At: now, Data: b}
	told := h.watch.told
	if told[e.ID] {
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	a := Alert{ID: e.ID, Event: text, Raised: now}
	if b.Interval != router.Lifetime.String() {
		a.Expires = admitted.Add(longestWindow)
	}
	if err := h.cfg.Alerts.Raise(ctx, a); err != nil {
		return err
	}
	if len(told) >= mostNoted {
		clear(told)
	}
	told[e.ID] = true
	return nil
}

// id returns an ID that is the same in every process. It identifies the owner, the
// window, the limit and the percentage. A limit that was changed has alerts of its own.
func (b Budget) id() string {
	of := fmt.Sprintf("%q %q %q %q %q %q %s %d %t %d", b.Account, b.Workspace, b.Member, b.KeyHash, b.Owner, b.Check,
		b.Window, b.Limit, b.BYOK, b.Percent)
	sum := sha256.Sum256([]byte(of))
	return "evt_" + hex.EncodeToString(sum[:16])
}

// deliverDue takes alerts that are due and queues them.
func (h *Hooks) deliverDue(ctx context.Context) error {
	for {
		now := h.cfg.Now()
		until := now.Add(alertLease)
		list, err := h.cfg.Alerts.Take(ctx, h.cfg.NewID(), now, until, alertBatch)
		if err != nil {
			return err
		}
		for _, a := range list {
			h.deliver(ctx, a, now, until)
		}
		if len(list) < alertBatch {
			return nil
		}
	}
}

// deliver queues an alert for those receivers that have not handled it yet.
func (h *Hooks) deliver(ctx context.Context, a Alert, now, until time.Time) {
	var e Event
	err := json.Unmarshal(a.Event, &e)
	if err == nil && now.Sub(a.Raised) > alertTries {
		err = fmt.Errorf("hooks: not delivered for %s", alertTries)
	}
	if err != nil {
		h.cfg.Logger.ErrorContext(ctx, "an alert is given up", slog.String("event", a.ID), slog.Any("error", err))
		h.finish(ctx, a.ID)
		return
	}
	waiting := h.pending.begin(a.ID, h.wanting(e.Data.Type()))
	if len(waiting) == 0 {
		h.finish(ctx, a.ID)
	}
	for _, r := range waiting {
		r.offer(delivery{event: e, until: until, done: func(ctx context.Context, err error) {
			if err == nil && h.pending.handled(a.ID, r) {
				h.finish(ctx, a.ID)
			}
		}})
	}
}

// wanting returns the receivers that want events of a type.
func (h *Hooks) wanting(t Type) (list []*receiver) {
	for _, r := range h.receivers {
		if r.wants(t) {
			list = append(list, r)
		}
	}
	return list
}

// finish marks an alert as delivered. Where that fails, the alert is delivered again.
func (h *Hooks) finish(ctx context.Context, id string) {
	limited, cancel := closing(ctx)
	defer cancel()
	if err := h.cfg.Alerts.Done(limited, id); err != nil {
		h.cfg.Logger.WarnContext(ctx, "an alert could not be marked as delivered", slog.String("event", id), slog.Any("error", err))
		return
	}
	h.pending.end(id)
}

// pending remembers which receivers have yet to handle an alert, so that an alert which
// one receiver has refused is not delivered again to the others. The zero value is empty.
type pending struct {
	mu sync.Mutex
	by map[string][]*receiver
}

// begin returns the receivers that have yet to handle an alert: all of them at first.
func (p *pending) begin(id string, all []*receiver) []*receiver {
	p.mu.Lock()
	defer p.mu.Unlock()
	if waiting, known := p.by[id]; known {
		return waiting
	}
	if p.by == nil || len(p.by) >= mostNoted {
		p.by = map[string][]*receiver{}
	}
	p.by[id] = all
	return all
}

// handled notes that a receiver has handled an alert, and reports whether it was the
// last one.
func (p *pending) handled(id string, by *receiver) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting, known := p.by[id]
	if !known {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(waiting), func(r *receiver) bool { return r == by })
	p.by[id] = left
	return len(left) == 0
}

// end forgets an alert.
func (p *pending) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.by, id)
}
