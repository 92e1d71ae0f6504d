package keys

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/flight"
	"github.com/signalbox/signalbox/router"
)

// How long what the store said is believed, and how much of it is kept.
const (
	freshFor   = 10 * time.Second // a key
	unknownFor = 2 * time.Second  // that there is none
	staleFor   = 5 * time.Minute  // a key, while the store fails
	askAgain   = time.Second      // after the store has failed

	lookupTimeout = 10 * time.Second // of the store
	maxKnown      = 1 << 16
	maxUnknown    = 1 << 14
	places        = 1 << 10 // of known keys that are found without a lock
)

// digest is the SHA-256 of a key's text, whole: nothing shorter finds a key.
type digest [sha256.Size]byte

// entry is what the store said of one digest. It never changes; its owner puts
// another one in its place.
type entry struct {
	digest    digest
	key       Key
	principal router.Principal
	limits    *router.Limits
	known     bool
	read      time.Duration // on the cache's clock: just before the store was asked
	until     time.Duration // when it is asked again
}

// fresh says whether e needs no store at now. A clock that steps back makes
// nothing last longer.
func (e *entry) fresh(now time.Duration) bool { return e.read <= now && now < e.until }

// cache keeps what the store said of keys. Known and unknown ones are kept
// apart, so that guessing displaces nobody's key. It is safe for concurrent
// use.
type cache struct {
	read  func(ctx context.Context, hash string) (Key, error) // as [Store] does it
	limit func(e *entry) *router.Limits                       // of a known key
	clock func() time.Duration                                // what has passed; it may step back
	loads flight.Group[*entry]

	// recent has known keys for those who look without the lock, each in the
	// one place that it can have: of those that share it, the one read last. Only
	// who holds mu writes, so what is forgotten does not come back.
	recent [places]atomic.Pointer[entry]

	mu             sync.RWMutex
	known, unknown generations
	// changes counts the calls of forget: what was read before one may not be
	// kept after it.
	changes uint64
}

func newCache(
	read func(ctx context.Context, hash string) (Key, error), limit func(*entry) *router.Limits, clock func() time.Duration,
) *cache {
	return &cache{
		read: read, limit: limit, clock: clock, known: generations{most: maxKnown / 2}, unknown: generations{most: maxUnknown / 2},
	}
}

// get returns what is known of a digest, from memory or else from the store.
// It is an error when neither says anything.
func (c *cache) get(ctx context.Context, d *digest) (*entry, error) {
	at := c.clock()
	e := c.place(d).Load()
	if e == nil || e.digest != *d {
		c.mu.RLock()
		e = c.find(d)
		c.mu.RUnlock()
	}
	if e != nil && e.fresh(at) {
		return e, nil
	}
	return c.load(ctx, *d)
}

// place is the one of recent that may have a digest.
func (c *cache) place(d *digest) *atomic.Pointer[entry] {
	return &c.recent[binary.LittleEndian.Uint64(d[:])%places]
}

// find returns the entry of a digest. The caller holds mu.
func (c *cache) find(d *digest) *entry {
	if e := c.known.get(d); e != nil {
		return e
	}
	return c.unknown.get(d)
}

// remove takes the entry of a digest out. The caller holds mu.
func (c *cache) remove(d *digest) {
	c.known.remove(d)
	c.unknown.remove(d)
	if e := c.place(d).Load(); e != nil && e.digest == *d {
		c.place(d).Store(nil)
	}
}

// load asks the store, once for all who want the same digest at a time. The
// question outlives a caller who gives up, for the others' sake.
func (c *cache) load(ctx context.Context, d digest) (*entry, error) {
	return c.loads.Do(ctx, string(d[:]), lookupTimeout, func(ctx context.Context) (*entry, error) { return c.ask(ctx, d) })
}

// ask reads one key from the store and keeps it. While the store fails, what it
// said before serves for a while.
func (c *cache) ask(ctx context.Context, d digest) (e *entry, err error) {
	c.mu.RLock()
	changes, old := c.changes, c.find(&d)
	c.mu.RUnlock()
	at := c.clock()
	k, err := c.read(ctx, hex.EncodeToString(d[:]))
	switch {
	case err == nil:
		e = &entry{digest: d, key: k, principal: principal(&k), known: true, read: at, until: at + freshFor}
		e.limits = c.limit(e)
	case errors.Is(err, ErrNotFound):
		e = &entry{digest: d, read: at, until: at + unknownFor}
	case old != nil && old.known && at < old.read+staleFor:
		stale := *old
		stale.until = min(at+askAgain, old.read+staleFor)
		e = &stale
	default:
		return nil, fmt.Errorf("keys: read: %w", err)
	}
	c.keep(&d, e, changes)
	return e, nil
}

// keep puts e in its place unless some key was changed meanwhile.
func (c *cache) keep(d *digest, e *entry, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	c.remove(d)
	if e.known {
		c.known.put(d, e)
		c.place(d).Store(e)
	} else {
		c.unknown.put(d, e)
	}
}

// forget makes a change of a key act at once: whoever asks after it has
// returned is told what the store says by then.
func (c *cache) forget(hash string) {
	d, ok := digestOf(hash)
	if !ok {
		return
	}
	c.mu.Lock()
	c.changes++
	c.remove(&d)
	c.mu.Unlock()
	c.loads.Forget(string(d[:]))
}

// renew reads a key from the store again, because e is known to be stale.
func (c *cache) renew(ctx context.Context, e *entry) (*entry, error) {
	c.mu.RLock()
	now := c.find(&e.digest)
	c.mu.RUnlock()
	switch {
	case now != nil && now.key.Version != e.key.Version:
		return now, nil // another call has renewed it
	case now != nil:
		c.forget(e.key.Hash)
	}
	return c.load(ctx, e.digest)
}

// digestOf reads the public id of a key.
func digestOf(hash string) (d digest, ok bool) {
	var text [2 * len(d)]byte
	if len(hash) != len(text) {
		return d, false
	}
	for i := range len(hash) {
		if c := hash[i]; 'A' <= c && c <= 'F' { // text is compared byte for byte
			return d, false
		}
	}
	copy(text[:], hash)
	_, err := hex.Decode(d[:], text[:])
	return d, err == nil
}

// generations is a map that forgets what was put longest ago: a new one begins
// when most entries are in the young one, and the old one is dropped.
type generations struct {
	young, old map[digest]*entry
	most       int
}

func (g *generations) get(d *digest) *entry {
	if e := g.young[*d]; e != nil {
		return e
	}
	return g.old[*d]
}

func (g *generations) put(d *digest, e *entry) {
	if g.young == nil || len(g.young) >= g.most {
		g.young, g.old = map[digest]*entry{}, g.young
	}
	g.young[*d] = e
}

func (g *generations) remove(d *digest) {
	delete(g.young, *d)
	delete(g.old, *d)
}
