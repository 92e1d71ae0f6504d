package guardrails

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/router"
)

// maxBytes is about how much memory the kept policies may take. A single policy may
// take more.
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

// covered is what applies to a principal. Many principals share a policy.
type covered struct {
	by     *keptPolicy    // nil: nothing restricts the principal
	limits *router.Limits // of the principal
}

// removed reports whether the policy was removed to make room for others.
func (c covered) removed() bool { return c.by != nil && c.by.policy.Load() == nil }

// newCache returns the cache of [Service.load].
func (s *Service) newCache() *cache.Cache[router.Principal, covered] {
	return cache.New(cache.Config[router.Principal, covered]{
		Load: func(ctx context.Context, p router.Principal) (covered, error) {
			_, c, err := s.load(ctx, p)
			return c, err
		},
		TTL: s.cfg.Staleness, Max: s.cfg.MaxCached, Now: s.cfg.Now,
	})
}

// forget makes a change of an account act on the next call.
func (s *Service) forget(account string) {
	s.cache.ForgetFunc(func(p router.Principal) bool { return p.Account == account })
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

// keptPolicy holds a policy until others need its memory, and nil then.
type keptPolicy struct{ policy atomic.Pointer[policy] }

// policies keeps the policies of combinations, which never change, in at most
// maxBytes. It is safe for concurrent use.
type policies struct {
	mu    sync.Mutex
	max   int
	of    map[combination]*keptPolicy
	bytes int
}

// get returns the policy of a combination, or nil and nil.
func (s *policies) get(of combination) (*keptPolicy, *policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.of[of]
	if c == nil {
		return nil, nil
	}
	return c, c.policy.Load()
}

// put keeps a policy and removes others to make room. It returns nil for nil.
func (s *policies) put(of combination, pol *policy) *keptPolicy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.of[of]; c != nil || pol == nil { // another call made it too
		return c
	}
	size := pol.bytes()
	for k, old := range s.of {
		if len(s.of) < s.max && s.bytes+size <= maxBytes {
			break
		}
		s.bytes -= old.policy.Swap(nil).bytes()
		delete(s.of, k)
	}
	c := &keptPolicy{}
	c.policy.Store(pol)
	s.of[of], s.bytes = c, s.bytes+size
	return c
}
