package guardrails

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"github.com/signalbox/signalbox/router"
)

// maxCompiled is how many policies are kept ready. They can be large, and many
// principals share one.
const maxCompiled = 1000

// policy is a merged one, ready for use. nil restricts nothing.
type policy struct {
	Policy
	scanner *Scanner // nil without filters
}

// cache remembers policies, by principal for a while, and by the guardrails
// that they are made of.
type cache struct {
	mu          *sync.RWMutex
	flight      *singleflight.Group
	max         int
	byPrincipal map[router.Principal]cached
	compiled    map[combination]*policy
	changes     uint64 // of this process; a load that one overtook is not kept
}

type cached struct {
	policy      *policy
	limits      *router.Limits // of the principal
	from, until time.Time
}

// combination names up to three guardrails as they were at some time.
type combination [3]struct {
	id       uuid.UUID
	revision int64
	updated  int64
}

func combine(a Applied) combination {
	var c combination
	for i, g := range []*Guardrail{a.Workspace, a.Member, a.Key} {
		if g != nil {
			c[i].id, c[i].revision, c[i].updated = g.ID, g.Revision, g.UpdatedAt.UnixNano()
		}
	}
	return c
}

func newCache(most int) cache {
	return cache{
		mu: new(sync.RWMutex), flight: new(singleflight.Group), max: most,
		byPrincipal: map[router.Principal]cached{}, compiled: map[combination]*policy{},
	}
}

// get returns what is remembered of p and still good at now, else how many
// changes there were.
func (c *cache) get(p router.Principal, now time.Time) (have cached, changes uint64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	have, ok = c.byPrincipal[p]
	// A clock that stepped back makes nothing live longer.
	return have, c.changes, ok && now.Before(have.until) && !now.Before(have.from)
}

// keep remembers what was loaded after so many changes.
func (c *cache) keep(p router.Principal, what cached, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == changes {
		makeRoom(c.byPrincipal, c.max)
		c.byPrincipal[p] = what
	}
}

// drop forgets what is remembered of p if it has these limits, which are old.
func (c *cache) drop(p router.Principal, old *router.Limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byPrincipal[p].limits == old {
		c.changes++ // what is being read may be as old
		delete(c.byPrincipal, p)
	}
}

// ready returns the policy of a combination, if it was made before.
func (c *cache) ready(of combination) (*policy, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	pol, ok := c.compiled[of]
	return pol, ok
}

func (c *cache) keepReady(of combination, pol *policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	makeRoom(c.compiled, maxCompiled)
	c.compiled[of] = pol
}

// makeRoom removes any entry of a map that is full.
func makeRoom[K comparable, V any](m map[K]V, most int) {
	for k := range m {
		if len(m) < most {
			return
		}
		delete(m, k)
	}
}

// forget makes the next request of an account look again.
func (c *cache) forget(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for p := range c.byPrincipal {
		if p.Account == account {
			delete(c.byPrincipal, p)
		}
	}
}
