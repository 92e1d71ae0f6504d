package prommetrics

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/router"
)

// op is an operation of a ledger.
type op int

const (
	opReserve op = iota
	opSettle
	opVoid
	opExpire
	opBalances
	opClaim
	opKeep
	opRelease

	ops // how many there are
)

func (o op) String() string {
	return [ops]string{"reserve", "settle", "void", "expire", "balances", "claim", "keep", "release"}[o]
}

// Ledger returns a ledger that measures another: how long its methods take, and what is
// held. It is a [router.Recorder] if inner is one. It is always a [router.Replies], whose
// methods return [errors.ErrUnsupported] if inner is none. It has no other methods of inner,
// so leases are put below it: it measures a ledger of store/lease. A nil inner is returned
// as it is.
func (m *Metrics) Ledger(inner router.Ledger) router.Ledger {
	if inner == nil {
		return nil
	}
	l := &ledger{inner: inner, metrics: m}
	for o := range ops {
		l.seconds[o] = m.ledgerSeconds.WithLabelValues(o.String())
	}
	l.replies, _ = inner.(router.Replies)
	if recorder, ok := inner.(router.Recorder); ok {
		return &recordingLedger{ledger: l, recorder: recorder}
	}
	return l
}

// ledger measures a ledger. It is safe for concurrent use.
type ledger struct {
	inner   router.Ledger
	replies router.Replies // inner, or nil
	metrics *Metrics
	seconds [ops]prometheus.Observer
}

// recordingLedger measures a ledger that is a [router.Recorder].
type recordingLedger struct {
	*ledger

	recorder router.Recorder
}

var (
	_ router.Ledger   = (*ledger)(nil)
	_ router.Replies  = (*ledger)(nil)
	_ router.Recorder = (*recordingLedger)(nil)
)

// took notes the time that an operation took.
func (l *ledger) took(o op, began time.Time) {
	l.seconds[o].Observe(l.metrics.cfg.Now().Sub(began).Seconds())
}

func (l *ledger) Reserve(ctx context.Context, h router.Hold) error {
	defer l.took(opReserve, l.metrics.cfg.Now())
	err := l.inner.Reserve(ctx, h)
	if err == nil {
		l.metrics.held.reserved(h)
	}
	return err
}

func (l *ledger) Settle(ctx context.Context, hold uuid.UUID, cost router.Amount) error {
	return l.close(opSettle, hold, func() error { return l.inner.Settle(ctx, hold, cost) })
}

func (l *ledger) Void(ctx context.Context, hold uuid.UUID) error {
	return l.close(opVoid, hold, func() error { return l.inner.Void(ctx, hold) })
}

// close measures an operation that closes a hold.
func (l *ledger) close(o op, hold uuid.UUID, f func() error) error {
	defer l.took(o, l.metrics.cfg.Now())
	err := f()
	if err == nil {
		l.metrics.held.closed(hold)
	}
	return err
}

func (l *ledger) Expire(ctx context.Context, now time.Time, limit int, policy router.Expiry) (int, error) {
	defer l.took(opExpire, l.metrics.cfg.Now())
	n, err := l.inner.Expire(ctx, now, limit, policy)
	if err == nil {
		l.metrics.held.expired(now)
	}
	return n, err
}

func (l *ledger) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	defer l.took(opBalances, l.metrics.cfg.Now())
	return l.inner.Balances(ctx, lines)
}

func (l *recordingLedger) SettleWith(ctx context.Context, hold uuid.UUID, cost router.Amount, events []router.Event) error {
	return l.close(opSettle, hold, func() error { return l.recorder.SettleWith(ctx, hold, cost, events) })
}

func (l *recordingLedger) RecordsTo(store any) bool { return l.recorder.RecordsTo(store) }

func (l *ledger) Claim(ctx context.Context, c router.Claim) (router.Claimed, error) {
	if l.replies == nil {
		return router.Claimed{}, errors.ErrUnsupported
	}
	defer l.took(opClaim, l.metrics.cfg.Now())
	return l.replies.Claim(ctx, c)
}

func (l *ledger) SettleKept(ctx context.Context, k router.Kept, cost router.Amount, events []router.Event) error {
	if l.replies == nil {
		return errors.ErrUnsupported
	}
	return l.close(opSettle, k.Hold, func() error { return l.replies.SettleKept(ctx, k, cost, events) })
}

func (l *ledger) Keep(ctx context.Context, k router.Kept) error {
	if l.replies == nil {
		return errors.ErrUnsupported
	}
	defer l.took(opKeep, l.metrics.cfg.Now())
	return l.replies.Keep(ctx, k)
}

func (l *ledger) Release(ctx context.Context, of router.ReplyKey, hold uuid.UUID) error {
	if l.replies == nil {
		return errors.ErrUnsupported
	}
	defer l.took(opRelease, l.metrics.cfg.Now())
	return l.replies.Release(ctx, of, hold)
}
