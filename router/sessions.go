package router

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// SessionKey identifies a session of one account at one model.
type SessionKey struct {
	Account string
	Model   string // a Model's ID
	Session string // as the caller sent it
}

// Sessions remembers which endpoint last answered a session, so that the session's
// next request goes there too. Implementations must be safe for concurrent use and
// fast, because requests wait for them. They may forget at any time. One that
// cannot be reached returns uuid.Nil: a session is a preference, never a reason to
// fail.
type Sessions interface {
	// Pinned returns the endpoint that was pinned last if its pin expires after
	// now, or uuid.Nil.
	Pinned(ctx context.Context, key SessionKey, now time.Time) uuid.UUID
	// Pin pins an endpoint in place of any other.
	Pin(ctx context.Context, key SessionKey, endpoint uuid.UUID, expires time.Time)
}

const (
	sessionLife  = 10 * time.Minute // after the last success
	sessionsKept = 65_536           // takes about 10 MB
)

// memorySessions is the default, in this process only. It keeps two generations of
// pins; when the younger is full, the older is dropped.
type memorySessions struct {
	kept           int // pins in a generation
	mu             sync.Mutex
	younger, older map[[sha256.Size]byte]pin
}

type pin struct {
	endpoint uuid.UUID
	expires  time.Time
}

// newMemorySessions remembers at most kept sessions; kept must be at least two.
func newMemorySessions(kept int) *memorySessions {
	return &memorySessions{kept: kept / 2, younger: make(map[[sha256.Size]byte]pin)}
}

func (m *memorySessions) Pinned(_ context.Context, key SessionKey, now time.Time) uuid.UUID {
	d := key.digest()
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.younger[d]
	if !ok {
		p, ok = m.older[d]
	}
	if !ok || !now.Before(p.expires) {
		return uuid.Nil
	}
	return p.endpoint
}

func (m *memorySessions) Pin(_ context.Context, key SessionKey, endpoint uuid.UUID, expires time.Time) {
	d := key.digest()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.younger) >= m.kept {
		if _, known := m.younger[d]; !known {
			m.older, m.younger = m.younger, make(map[[sha256.Size]byte]pin)
		}
	}
	m.younger[d] = pin{endpoint: endpoint, expires: expires}
}

// digest returns a key of fixed size, so that long ids cannot fill the memory.
func (k SessionKey) digest() [sha256.Size]byte {
	b := make([]byte, 0, 256)
	for _, s := range []string{k.Account, k.Model, k.Session} {
		b = binary.BigEndian.AppendUint64(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// pinned returns the pins of a call's session, by the index of its models; nil
// without a session.
func (r *Router) pinned(ctx context.Context, c *Call, models []ModelRef, now time.Time) []uuid.UUID {
	if c.Request.SessionID == "" {
		return nil
	}
	pins := make([]uuid.UUID, len(models))
	for i, m := range models {
		pins[i] = r.cfg.Sessions.Pinned(ctx, sessionOf(c, m.Model), now)
	}
	return pins
}

// pin pins the session to the endpoints that answered, for ten minutes, one for
// each model. A pin stays unchanged for a request that orders endpoints itself, and
// after an answer of a last resort.
func (k *course) pin(ctx context.Context) {
	c := k.call
	if c.Request.SessionID == "" {
		return
	}
	for _, l := range c.Report.Legs {
		if len(l.Attempts) == 0 || !l.Answered() || ordersItself(c.Request.Provider, k.groups[l.Group].models) {
			continue
		}
		by := &l.Attempts[len(l.Attempts)-1]
		if by.used && !by.Endpoint.LastResort {
			k.router.cfg.Sessions.Pin(ctx, sessionOf(c, by.Model), by.Endpoint.ID, k.router.cfg.Now().Add(sessionLife))
		}
	}
}

func sessionOf(c *Call, m *Model) SessionKey {
	return SessionKey{Account: c.Principal.Account, Model: m.ID, Session: c.Request.SessionID}
}

func ordersItself(p *systemone.Preferences, models []ModelRef) bool {
	if p != nil && (len(p.Order) > 0 || p.Sort.By != "") {
		return true
	}
	return slices.ContainsFunc(models, func(m ModelRef) bool { return m.Sort != "" })
}
