package router

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/typednil"
)

// remembering is a router's side of [Config.Remember].
type remembering struct {
	store Memory
	own   bool // the store is the default, which returns what was put
	ttl   time.Duration

	// mu lets forget wait for answers that are being put, so that it deletes them, and
	// forgets keeps out the answers of calls that began before it.
	mu      sync.RWMutex
	forgets int64
}

// newRemembering returns nil where nothing is remembered.
func newRemembering(cfg *Remembering) (*remembering, error) {
	switch {
	case cfg == nil:
		return nil, nil //nolint:nilnil // nothing is remembered, and nothing is wrong
	case cfg.TTL < 0, cfg.Bytes < 0:
		return nil, fmt.Errorf("%w: Remember.TTL and Remember.Bytes must not be negative", ErrConfig)
	case typednil.Is(cfg.Store):
		return nil, fmt.Errorf("%w: Remember.Store holds a nil", ErrConfig)
	}
	m := &remembering{store: cfg.Store, ttl: cmp.Or(cfg.TTL, defaultRemembered)}
	if m.store == nil {
		m.store, m.own = newProcessMemory(cfg.Bytes), true
	}
	return m, nil
}

// mark returns how often something was forgotten until now.
func (m *remembering) mark() int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.forgets
}

// put keeps entries of a call that took its mark when it began. After a Forget in
// between it keeps nothing.
func (m *remembering) put(ctx context.Context, mark int64, entries []MemoryEntry, now time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.forgets == mark && len(entries) > 0 {
		m.store.Put(ctx, entries, now)
	}
}

// Forget deletes the remembered answers of an account. With a user or a session, as
// the caller stated it, it deletes only the answers that were given to calls with
// that user or session, and with both only those with both. Calls in flight when
// Forget returns do not add to what is remembered. Other processes with the same
// [Memory] may. It is safe for concurrent use, and does nothing without
// [Config.Remember].
func (r *Router) Forget(ctx context.Context, account, user, session string) error {
	m := r.remembering
	if m == nil {
		return nil
	}
	m.mu.Lock()
	m.forgets++
	m.mu.Unlock()
	return m.store.Forget(ctx, account, user, session)
}
