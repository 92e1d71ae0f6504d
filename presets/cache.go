package presets

import (
	"sync"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

const (
	// keepFor is how long what was found, or not found, is believed: so late a
	// change that was made by another process acts.
	keepFor = 5 * time.Second
	// maxCached bounds how many names are remembered.
	maxCached = 4096
)

// settings is what of a preset acts on a decision. It is shared and never
// changed.
type settings struct {
	model    string
	models   []string
	provider *systemone.Preferences
}

// name is what a preset is called within an account, in whichever workspace.
type name struct{ account, slug string }

// cache remembers what requests of a workspace mean by a slug. The zero value
// is ready for use.
type cache struct {
	mu     sync.RWMutex
	byName map[name]map[string]cached // by the workspace of the request's key
	// forgotten counts calls of forget, so that nothing is kept that was read
	// before a change and arrives after it.
	forgotten uint64
}

type cached struct {
	settings *settings // nil: no such preset that can be used
	until    time.Time
}

// get returns what is remembered, or else a ticket for put.
func (c *cache) get(n name, workspace string, now time.Time) (s *settings, known bool, ticket uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	got, ok := c.byName[n][workspace]
	// A clock that stepped back makes nothing live longer.
	if !ok || !now.Before(got.until) || now.Before(got.until.Add(-keepFor)) {
		return nil, false, c.forgotten
	}
	return got.settings, true, c.forgotten
}

// put remembers what was read since the ticket was given.
func (c *cache) put(n name, workspace string, s *settings, now time.Time, ticket uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ticket != c.forgotten {
		return
	}
	if c.byName == nil {
		c.byName = map[name]map[string]cached{}
	}
	if _, known := c.byName[n]; !known {
		if len(c.byName) >= maxCached {
			c.evict()
		}
		c.byName[n] = map[string]cached{}
	}
	if len(c.byName[n]) >= maxCached {
		clear(c.byName[n])
	}
	c.byName[n][workspace] = cached{settings: s, until: now.Add(keepFor)}
}

// evict makes room for one name.
func (c *cache) evict() {
	for n := range c.byName { // in no order, so nobody can choose whose goes
		delete(c.byName, n)
		return
	}
}

// forget makes a change of a preset act at once.
func (c *cache) forget(account, slug string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten++
	delete(c.byName, name{account, slug})
}
