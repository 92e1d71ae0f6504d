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

// replies are what calls with idempotency keys have claimed, by the API keys that
// asked. Its mutex is locked after that of a table of holds.
type replies struct {
	mu      sync.Mutex
	callers map[apiKey]*claims
}

type apiKey struct{ account, hash string }

func callerOf(k router.ReplyKey) apiKey { return apiKey{k.Account, k.KeyHash} }

// claims are those of one API key.
type claims struct {
	byKey map[string]*list.Element
	order list.List // of *claim, in the order in which they were claimed
}

// claim is in flight until it has a reply.
type claim struct {
	router.Claim

	reply []byte
}

func (c *claim) inFlight(now time.Time) bool { return c.reply == nil && !c.Deadline.Before(now) }

// over says whether a claim counts as none.
func (c *claim) over(now time.Time) bool {
	return !c.inFlight(now) && !c.Now.Add(router.RepliesKept).After(now)
}

func claimAt(place *list.Element) *claim {
	if place == nil {
		return nil
	}
	c, _ := place.Value.(*claim) // there is nothing else in the list
	return c
}

// find returns the claim of a key, or nil; with r.mu locked.
func (r *replies) find(k router.ReplyKey) *claim {
	if caller := r.callers[callerOf(k)]; caller != nil {
		return claimAt(caller.byKey[k.Key])
	}
	return nil
}

// add puts a claim in the place of one that is over, dead or missing, and drops
// the caller's oldest that are too many; with r.mu locked.
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

// forget drops claims that are over. Others get their turn each time that it has
// looked at limit claims.
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

// dropFirst drops the first claim that is over, of those that are old enough, and
// says whether there was one. What is in flight for a day is rare.
func (c *claims) dropFirst(now time.Time) bool {
	for place := c.order.Front(); place != nil; place = place.Next() {
		switch old := claimAt(place); {
		case old.over(now):
			c.drop(place)
			return true
		case old.Now.Add(router.RepliesKept).After(now):
			return false // those behind it are younger
		}
	}
	return false
}

// keep keeps a reply under the claim of its call, if that still has it; with r.mu
// locked.
func (r *replies) keep(k *router.Kept) {
	if c := r.find(k.Key); c != nil && c.Hold == k.Hold && c.reply == nil {
		c.reply = slices.Clone(k.Reply)
	}
}

// taken says whether another call than that of a reply has the claim; with r.mu
// locked.
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
