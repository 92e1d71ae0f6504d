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

// maxBytes is about how many bytes the compiled policies may take. A single policy may
// take more.
const maxBytes = 64 << 20

// policy is a merged policy with its compiled filters. A nil policy restricts nothing.
type policy struct {
	Policy
	scanner  *content.Scanner // nil without filters
	tooLarge bool             // its patterns exceed the limits, so every request is refused
}

// bytes returns about how many bytes p takes.
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

// covered is what covers a principal. Many principals share a policy.
type covered struct {
	by     *keptPolicy    // nil: nothing restricts the principal
	limits *router.Limits // budgets of the principal
}

// evicted reports whether the policy was evicted to make room for others.
func (c covered) evicted() bool { return c.by != nil && c.by.policy.Load() == nil }

// newCache returns a cache of the results of load.
func (s *Service) newCache() *cache.Cache[router.Principal, covered] {
	return cache.New(cache.Config[router.Principal, covered]{
		Load: func(ctx context.Context, p router.Principal) (covered, error) {
			_, c, err := s.load(ctx, p)
			return c, err
		},
		TTL: s.cfg.Staleness, Max: s.cfg.MaxCached, Now: s.cfg.Now,
	})
}

// forget removes the principals of an account from the cache, so that a change applies to
// the next call.
func (s *Service) forget(account string) {
	s.cache.ForgetFunc(func(p router.Principal) bool { return p.Account == account })
}

// combination identifies up to three guardrails and their revisions.
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

// keptPolicy holds a policy, or nil after the policy was evicted.
type keptPolicy struct{ policy atomic.Pointer[policy] }

// policies stores the policies of combinations in at most max entries and maxBytes bytes.
// The policy of a combination never changes. It is safe for concurrent use.
type policies struct {
	mu    sync.Mutex
	max   int
	of    map[combination]*keptPolicy
	bytes int
}

// get returns the policy of a combination, or nil and nil if there is none.
func (s *policies) get(of combination) (*keptPolicy, *policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.of[of]
	if c == nil {
		return nil, nil
	}
	return c, c.policy.Load()
}

// put stores a policy and evicts others to make room. It returns nil for a nil policy.
func (s *policies) put(of combination, pol *policy) *keptPolicy {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.of[of]; c != nil || pol == nil { // a concurrent call compiled it, too
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
