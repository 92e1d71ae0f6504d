package organization

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/router"
)

const (
	staleness    = 10 * time.Second // after which a change made elsewhere is seen
	maxStandings = 100_000
)

// place is the origin of calls: an account, and a workspace or "".
type place struct{ account, workspace string }

// standing is what an account and a workspace put on their calls. It is never
// changed.
type standing struct {
	account   Account
	guardrail string
	rules     []router.Rule
	limits    *router.Limits
}

// newCache returns the cache of [Service.load].
func (s *Service) newCache() *cache.Cache[place, *standing] {
	return cache.New(cache.Config[place, *standing]{Load: s.load, TTL: staleness, Max: maxStandings, Now: s.cfg.Now})
}

// standing returns the standing of a place, as it was at most 10 s ago and not
// before the last change by this Service.
func (s *Service) standing(ctx context.Context, p place) (*standing, error) {
	return s.cache.Get(ctx, p)
}

// load reads a standing for the cache.
func (s *Service) load(ctx context.Context, p place) (*standing, error) {
	st := &standing{}
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

// forget makes a change of an account act on the next call.
func (s *Service) forget(account string) {
	s.cache.ForgetFunc(func(p place) bool { return p.account == account })
}
