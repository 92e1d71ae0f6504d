package guardrails

import (
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// maxBytes is about how much memory the cached policies may take. A single policy
// may take more.
const maxBytes = 64 << 20

// policy is a merged one, ready for use. nil restricts nothing.
type policy struct {
	Policy
	scanner  *content.Scanner // nil without filters
	tooLarge bool             // it has patterns that cannot be run: every request is refused
}

// bytes is about how much memory p takes.
func (p *policy) bytes() int {
	n := 0
	if p == nil {
		return n
	}
	for _, r := range p.Rules {
		for _, list := range [][]string{r.AllowedModels, r.IgnoredModels, r.AllowedProviders, r.IgnoredProviders} {
			for _, entry := range list {
				n += 16 + len(entry)
			}
		}
	}
	for _, f := range p.Filters {
		n += len(f.Pattern) + len(f.Label)
	}
	if p.scanner != nil {
		n += p.scanner.Bytes()
	}
	return n
}

// cache remembers which guardrails apply to a principal, for a while, and the
// policies that they come to. Many principals share a policy.
type cache struct {
	mu          *sync.RWMutex
	flight      *singleflight.Group
	max         int
	byPrincipal map[router.Principal]cached
	compiled    map[combination]*policy
	bytes       int    // of compiled
	changes     uint64 // of this process; a load that one overtook is not kept
}

type cached struct {
	of          combination
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
func (c *cache) get(p router.Principal, now time.Time) (pol *policy, limits *router.Limits, changes uint64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	have, ok := c.byPrincipal[p]
	// A clock that stepped back makes nothing live longer.
	if !ok || !now.Before(have.until) || now.Before(have.from) {
		return nil, nil, c.changes, false
	}
	pol, ok = c.compiled[have.of]
	return pol, have.limits, c.changes, ok
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

// drop removes the entry of p if it still holds these limits, which are stale.
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
	if _, ok := c.compiled[of]; ok { // another call made it too
		return
	}
	size := pol.bytes()
	for k, old := range c.compiled {
		if len(c.compiled) < c.max && c.bytes+size <= maxBytes {
			break
		}
		c.bytes -= old.bytes()
		delete(c.compiled, k)
	}
	c.bytes += size
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
