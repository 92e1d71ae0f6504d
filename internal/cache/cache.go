// Package cache keeps in memory what was read from a store, for a while. A
// change in the same process acts at once: after [Cache.Forget] has returned,
// no Get returns what was read before it, also where a load was under way.
package cache

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

const (
	loadTimeout = 5 * time.Second // of one load
	retryEvery  = time.Second     // while Load fails and Config.Stale applies
	slots       = 1 << 10         // of values that are found without a lock
)

// Config sets up a [Cache].
type Config[K comparable, V any] struct {
	// Load reads one value from the store; required. It runs in a goroutine of
	// its own, with a deadline of 5 s. A panic is an error for every caller that
	// waits for the value.
	Load func(ctx context.Context, key K) (V, error)
	// TTL is how long a value is returned, from just before Load began; required.
	TTL time.Duration
	// Max is how many values are kept; required. One more takes the place of any
	// other.
	Max int
	// Missing is the error of Load for what does not exist. An error that wraps
	// it is kept for MissingTTL. These errors have Max/4 places of their own, so
	// guessing displaces no value. Nil keeps no errors.
	Missing    error
	MissingTTL time.Duration
	// Stale is how long a value serves while Load returns other errors. Load is
	// tried again every second then. 0: no longer than TTL.
	Stale time.Duration
	Now   func() time.Time // default time.Now
}

// Cache keeps values by their keys. It is safe for concurrent use. Values are
// shared by all callers, who must not change them.
type Cache[K comparable, V any] struct {
	cfg   Config[K, V]
	clock func() time.Duration // time since its first call; it may step back
	seed  maphash.Seed

	// recent finds values without a lock, each in the one slot that its key has.
	// It is written while mu is held, and holds only what kept holds.
	recent [slots]atomic.Pointer[entry[K, V]]

	mu            sync.RWMutex
	kept, missing map[K]*entry[K, V] // values and errors
	loading       map[K]*load[K, V]  // loads whose value may be kept
}

// entry is what one load returned. It is never changed.
type entry[K comparable, V any] struct {
	key   K
	value V
	err   error
	read  time.Duration // just before Load began
	until time.Duration // when Load is asked again
}

// New returns an empty cache.
func New[K comparable, V any](cfg Config[K, V]) *Cache[K, V] {
	return &Cache[K, V]{
		cfg: cfg, clock: clockOf(cfg.Now), seed: maphash.MakeSeed(),
		kept: map[K]*entry[K, V]{}, missing: map[K]*entry[K, V]{}, loading: map[K]*load[K, V]{},
	}
}

// clockOf returns the time since its first call, by the clock now or, if that is nil,
// by that of the machine.
func clockOf(now func() time.Time) func() time.Duration {
	type clock struct {
		Now   func() time.Time
		since func(time.Time) time.Duration
	}
	if now == nil {
		c := clock{Now: time.Now, since: time.Since} // Since costs less than Now
		begun := c.Now()
		return func() time.Duration { return c.since(begun) }
	}
	var once sync.Once
	var begun time.Time
	return func() time.Duration {
		t := now()
		once.Do(func() { begun = t })
		return t.Sub(begun)
	}
}

// Get returns the value of a key, from memory or else from Load. Concurrent
// callers share one load, which goes on when one of them gives up. The error is
// that of Load, or that of ctx.
func (c *Cache[K, V]) Get(ctx context.Context, key K) (V, error) {
	now := c.clock()
	e := c.slot(key).Load()
	if e == nil || e.key != key {
		e = c.find(key)
	}
	if e != nil && e.fresh(now) {
		return e.value, e.err
	}
	return c.join(ctx, key).wait(ctx)
}

// Forget makes a change act at once: a Get that begins after Forget has returned
// loads the key anew. Call it after the store was changed, also when that
// failed, because the change may have been made all the same.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(key)
}

// ForgetFunc is Forget for every key that match returns true for. It looks at all
// keys; match must not use the cache.
func (c *Cache[K, V]) ForgetFunc(match func(key K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, keys := range []map[K]*entry[K, V]{c.kept, c.missing} {
		for key := range keys {
			if match(key) {
				c.remove(key)
			}
		}
	}
	maps.DeleteFunc(c.loading, func(key K, _ *load[K, V]) bool { return match(key) })
}

// Renew is Get for a caller that knows a value of this key to be old. A kept value
// that old returns true for is not returned, and neither is that of a load under
// way. A value that old returns false for was renewed by another caller.
func (c *Cache[K, V]) Renew(ctx context.Context, key K, old func(V) bool) (V, error) {
	c.mu.Lock()
	if e := c.kept[key]; e != nil && old(e.value) {
		c.forget(key)
	}
	c.mu.Unlock()
	return c.Get(ctx, key)
}

// fresh says whether e may be returned at now. A clock that steps back makes
// nothing last longer.
func (e *entry[K, V]) fresh(now time.Duration) bool { return e.read <= now && now < e.until }

func (c *Cache[K, V]) slot(key K) *atomic.Pointer[entry[K, V]] {
	return &c.recent[maphash.Comparable(c.seed, key)%slots]
}

// find returns what is kept of a key, fresh or not, or nil.
func (c *Cache[K, V]) find(key K) *entry[K, V] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.held(key)
}

// held is find; the caller holds mu.
func (c *Cache[K, V]) held(key K) *entry[K, V] {
	if e := c.kept[key]; e != nil {
		return e
	}
	return c.missing[key]
}

// forget is Forget; the caller holds mu.
func (c *Cache[K, V]) forget(key K) {
	c.remove(key)
	delete(c.loading, key)
}

// remove removes what is kept of a key. The caller holds mu.
func (c *Cache[K, V]) remove(key K) {
	delete(c.kept, key)
	delete(c.missing, key)
	slot := c.slot(key)
	if e := slot.Load(); e != nil && e.key == key {
		slot.Store(nil)
	}
}

// keep keeps what a load returned. The caller holds mu.
func (c *Cache[K, V]) keep(e *entry[K, V]) {
	in, most := c.kept, c.cfg.Max
	switch {
	case e.err == nil:
		e.until = e.read + c.cfg.TTL
	case c.cfg.Missing != nil && errors.Is(e.err, c.cfg.Missing):
		in, most, e.until = c.missing, c.cfg.Max/4, e.read+c.cfg.MissingTTL
	default:
		old := c.kept[e.key]
		if old == nil || e.read >= old.read+c.cfg.Stale {
			return
		}
		e.value, e.err, e.until = old.value, nil, min(e.read+retryEvery, old.read+c.cfg.Stale)
		e.read = old.read
	}
	c.remove(e.key)
	for key := range in { // in no order, so nobody can choose which one goes
		if len(in) < most {
			break
		}
		c.remove(key)
	}
	in[e.key] = e
	if e.err == nil {
		c.slot(e.key).Store(e)
	}
}
