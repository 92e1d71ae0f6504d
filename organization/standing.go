package organization

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/router"
)

const (
	staleness    = 10 * time.Second // after which a change made elsewhere is seen
	loadTimeout  = 5 * time.Second  // of the store
	maxStandings = 100_000
)

// place is whose calls are meant: an account, in a workspace or in none.
type place struct{ account, workspace string }

// standing is what is put on the calls of a place. It is never changed.
type standing struct {
	account   Account
	guardrail string
	rules     []router.Rule
	limits    *router.Limits
	until     time.Time
}

// standings are those read lately.
type standings struct {
	mu      sync.RWMutex
	byPlace map[place]*standing
	changes uint64 // made by this Service: what was begun to be read before one is not kept
}

// standing returns what is put on the calls of a place, as it was at most 10 s
// ago and not before the last change by this Service.
func (s *Service) standing(ctx context.Context, p place) (*standing, error) {
	st, changes := s.kept(p)
	if st != nil {
		return st, nil
	}
	// Callers of one place wait for one reading, which goes on when the caller
	// that began it gives up.
	key := p.account + "\x00" + p.workspace + "\x00" + strconv.FormatUint(changes, 10)
	return s.loads.Do(ctx, key, loadTimeout, func(ctx context.Context) (*standing, error) {
		if st, _ := s.kept(p); st != nil { // since it was looked for
			return st, nil
		}
		st, err := s.load(ctx, p)
		if err != nil {
			return nil, err
		}
		s.keep(p, st, changes)
		return st, nil
	})
}

// kept returns the standing that was read at most 10 s ago, if any, and how many
// changes there were.
func (s *Service) kept(p place) (*standing, uint64) {
	s.cache.mu.RLock()
	st, changes := s.cache.byPlace[p], s.cache.changes
	s.cache.mu.RUnlock()
	// A clock that stepped back makes nothing live longer.
	if now := s.cfg.Now(); st == nil || !now.Before(st.until) || now.Before(st.until.Add(-staleness)) {
		return nil, changes
	}
	return st, changes
}

// load reads a standing.
func (s *Service) load(ctx context.Context, p place) (*standing, error) {
	st := &standing{until: s.cfg.Now().Add(staleness)}
	var err error
	if st.account, err = s.cfg.Store.Account(ctx, p.account); err != nil {
		return nil, err
	}
	var w Workspace
	if p.workspace != "" {
		if w, err = s.cfg.Store.Workspace(ctx, p.account, p.workspace); err != nil {
			return nil, err
		}
		if w.ID != p.workspace { // found by its slug
			return nil, ErrNotFound
		}
	}
	st.guardrail, st.rules = w.DefaultGuardrail, rulesOf(st.account, w)
	st.limits = s.limitsOf(p, st, w)
	return st, nil
}

// renew reads the standing of a place again, because st is known to be stale.
func (s *Service) renew(ctx context.Context, p place, st *standing) (*standing, error) {
	s.cache.mu.Lock()
	if s.cache.byPlace[p] == st {
		s.cache.changes++ // what is being read may be as old
		delete(s.cache.byPlace, p)
	}
	s.cache.mu.Unlock()
	return s.standing(ctx, p)
}

// keep remembers st unless something was changed since it was begun to be read.
func (s *Service) keep(p place, st *standing, changes uint64) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.changes != changes {
		return
	}
	if len(s.cache.byPlace) >= maxStandings {
		clear(s.cache.byPlace)
	}
	s.cache.byPlace[p] = st
}

// forget makes a change to an account act on the next call.
func (s *Service) forget(account string) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.cache.changes++
	maps.DeleteFunc(s.cache.byPlace, func(p place, _ *standing) bool { return p.account == account })
}
