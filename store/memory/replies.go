package memory

import (
	"container/list"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

var _ router.Replies = (*ledger)(nil)

var errReply = errors.New("memory: a reply must not be empty")

// replies are the claims of idempotency keys, by the API key that made them. A table of holds
// is locked before its mutex.
type replies struct {
	mu      sync.Mutex
	callers map[apiKey]*claims
}

type apiKey struct{ account, hash string }

func callerOf(k router.ReplyKey) apiKey { return apiKey{k.Account, k.KeyHash} }

// claims are the claims of one API key.
type claims struct {
	byKey map[string]*list.Element
	order list.List // of *claim, oldest first
}

// claim is a claimed idempotency key. It is in flight until it has a reply.
type claim struct {
	router.Claim

	reply []byte
}

func (c *claim) inFlight(now time.Time) bool { return c.reply == nil && !c.Deadline.Before(now) }

// over reports whether a claim is too old to count.
func (c *claim) over(now time.Time) bool {
	return !c.inFlight(now) && !c.Now.Add(router.RepliesKept).After(now)
}

func claimAt(place *list.Element) *claim {
	if place == nil {
		return nil
	}
	c, _ := place.Value.(*claim) // the list has no other values
	return c
}

// find returns the claim of a key, or nil. The caller holds r.mu.
func (r *replies) find(k router.ReplyKey) *claim {
	if caller := r.callers[callerOf(k)]; caller != nil {
		return claimAt(caller.byKey[k.Key])
	}
	return nil
}

// add stores a claim in place of an old, dead or missing one, and drops the oldest claims
// beyond the API key's bound. The caller holds r.mu.
func (r *replies) add(asked router.Claim) {
	at := callerOf(asked.Key)
	caller := r.callers[at]
	if caller == nil {
		caller = &claims{byKey: map[string]*list.Element{}}
		r.callers[at] = caller
	}
	caller.drop(caller.byKey[asked.Key.Key])
	caller.byKey[asked.Key.Key] = caller.order.PushBack(&claim{Claim: asked})
	for place := caller.order.Front(); place != nil && caller.order.Len() > asked.Most; {
		next := place.Next()
		if !claimAt(place).inFlight(asked.Now) {
			caller.drop(place)
		}
		place = next
	}
}

func (c *claims) drop(place *list.Element) {
	if place != nil {
		delete(c.byKey, claimAt(place).Key.Key)
		c.order.Remove(place)
	}
}

// forget drops claims that are too old. After every limit claims it releases the lock for a
// moment.
func (r *replies) forget(now time.Time, limit int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := 0
	for _, at := range slices.Collect(maps.Keys(r.callers)) {
		for caller, more := r.callers[at], true; more; seen++ {
			if seen >= limit {
				r.mu.Unlock()
				runtime.Gosched()
				r.mu.Lock()
				seen, caller = 0, r.callers[at]
			}
			more = caller != nil && caller.dropFirst(now)
		}
		if caller := r.callers[at]; caller != nil && caller.order.Len() == 0 {
			delete(r.callers, at)
		}
	}
}

// dropFirst drops the first claim that is too old and reports whether there was one. Claims
// that are in flight for a day are rare.
func (c *claims) dropFirst(now time.Time) bool {
	for place := c.order.Front(); place != nil; place = place.Next() {
		switch old := claimAt(place); {
		case old.over(now):
			c.drop(place)
			return true
		case old.Now.Add(router.RepliesKept).After(now):
			return false // the claims behind it are younger
		}
	}
	return false
}

// keep stores a reply if its call still owns the claim. The caller holds r.mu.
func (r *replies) keep(k *router.Kept) {
	if c := r.find(k.Key); c != nil && c.Hold == k.Hold && c.reply == nil {
		c.reply = slices.Clone(k.Reply)
	}
}

// taken reports whether another call owns the claim of a reply. The caller holds r.mu.
func (r *replies) taken(k *router.Kept) bool {
	c := r.find(k.Key)
	return c != nil && c.Hold != k.Hold
}

func (l *ledger) Claim(ctx context.Context, asked router.Claim) (router.Claimed, error) {
	if err := ctx.Err(); err != nil {
		return router.Claimed{}, err
	}
	r := &l.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.find(asked.Key)
	switch {
	case c == nil || c.over(asked.Now):
	case c.Digest != asked.Digest:
		return router.Claimed{}, router.ErrReused
	case c.reply != nil:
		return router.Claimed{Hold: c.Hold, Reply: slices.Clone(c.reply)}, nil
	case c.Hold == asked.Hold:
		return router.Claimed{Hold: c.Hold}, nil
	case c.inFlight(asked.Now):
		return router.Claimed{Hold: c.Hold}, nil
	case c.Hold != asked.After:
		return router.Claimed{Hold: c.Hold, Dead: true}, nil
	}
	r.add(asked)
	return router.Claimed{Hold: asked.Hold}, nil
}

func (l *ledger) SettleKept(ctx context.Context, k router.Kept, cost router.Amount, events []router.Event) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case len(k.Reply) == 0:
		return errReply
	}
	t := l.of(k.Hold)
	t.mu.Lock()
	defer t.mu.Unlock()
	l.replies.mu.Lock()
	defer l.replies.mu.Unlock()
	if l.replies.taken(&k) {
		return router.ErrConflict
	}
	err := l.settle(t, k.Hold, cost, events)
	if err == nil {
		l.replies.keep(&k)
	}
	return err
}

func (l *ledger) Keep(ctx context.Context, k router.Kept) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case len(k.Reply) == 0:
		return errReply
	}
	l.replies.mu.Lock()
	defer l.replies.mu.Unlock()
	if l.replies.taken(&k) {
		return router.ErrConflict
	}
	l.replies.keep(&k)
	return nil
}

func (l *ledger) Release(ctx context.Context, k router.ReplyKey, hold uuid.UUID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &l.replies
	r.mu.Lock()
	defer r.mu.Unlock()
	caller := r.callers[callerOf(k)]
	if c := r.find(k); c != nil && c.Hold == hold && c.reply == nil {
		caller.drop(caller.byKey[k.Key])
	}
	return nil
}
