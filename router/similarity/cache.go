package similarity

import (
	"container/list"
	"sync"
)

// cache holds encoded phrases, bounded in entries and in bytes. The least recently used
// entry is evicted first. It is safe for concurrent use.
type cache struct {
	maxEntries, maxBytes int

	mu      sync.Mutex
	entries map[string]*list.Element // of *entry
	order   *list.List               // most recently used first
	bytes   int
}

type entry struct {
	phrase string
	sense  *sense
	bytes  int
}

func newCache(maxEntries, maxBytes int) *cache {
	return &cache{maxEntries: maxEntries, maxBytes: maxBytes, entries: map[string]*list.Element{}, order: list.New()}
}

// get returns nil for a phrase that is not cached.
func (c *cache) get(phrase string) *sense {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.entries[phrase]
	if !ok {
		return nil
	}
	c.order.MoveToFront(at)
	return c.entry(at).sense
}

// put adds a phrase and evicts others to make room. A phrase larger than the whole cache
// is not added.
func (c *cache) put(phrase string, s *sense) {
	e := &entry{phrase: phrase, sense: s, bytes: len(phrase) + s.size()}
	if e.bytes > c.maxBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[phrase]; ok {
		c.remove(at) // two requests may have computed it at once
	}
	c.entries[phrase] = c.order.PushFront(e)
	c.bytes += e.bytes
	for len(c.entries) > c.maxEntries || c.bytes > c.maxBytes {
		c.remove(c.order.Back())
	}
}

func (c *cache) remove(at *list.Element) {
	e := c.entry(at)
	c.order.Remove(at)
	delete(c.entries, e.phrase)
	c.bytes -= e.bytes
}

func (*cache) entry(at *list.Element) *entry {
	return at.Value.(*entry) //nolint:forcetypeassert,errcheck // the list holds only entries
}
