package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Record is a key with what it has spent.
type Record struct {
	Key
	// Usage is what the key has spent in the current period of each interval, from
	// the balances of the ledger. Holds do not count.
	Usage [router.Daily + 1]router.Amount
	// Remaining is the limit less what was spent in its current period, never
	// below 0; nil without a limit.
	Remaining *router.USD
}

// Get returns a key of the actor's account, also one that has expired.
// Management keys are shown only to the embedding program.
func (s *Service) Get(ctx context.Context, by router.Actor, hash string) (Record, error) {
	k, err := s.visible(ctx, by, hash)
	if err != nil {
		return Record{}, err
	}
	return s.record(ctx, k)
}

// List returns the keys of the actor's account that q selects, expired ones
// included, newest first and at most [PageSize]; a Limit of 0 is PageSize. A
// Workspace of "" is the account's default one; a workspace that the account does
// not have is ErrNotFound. Management keys are shown only to the embedding program.
func (s *Service) List(ctx context.Context, by router.Actor, q Query) ([]Record, error) {
	if q.Management && !isProgram(by) {
		return nil, ErrForbidden
	}
	if q.Limit <= 0 || q.Limit > PageSize {
		q.Limit = PageSize
	}
	if q.Offset = max(q.Offset, 0); !q.Management {
		workspace, err := s.workspace(ctx, by, q.Workspace)
		if err != nil {
			return nil, err
		}
		q.Workspace = workspace
	}
	list, err := s.cfg.Store.List(ctx, by.Principal.Account, q)
	if err != nil {
		return nil, fmt.Errorf("keys: list: %w", err)
	}
	return s.records(ctx, list)
}

// Current returns the record of the key that p acts with, also of a management key,
// and whether its account is an organization.
func (s *Service) Current(ctx context.Context, p router.Principal) (r Record, organization bool, err error) {
	k, err := s.find(ctx, p.KeyHash)
	switch {
	case errors.Is(err, ErrNotFound):
		return Record{}, false, ErrRefused // deleted since it was authenticated
	case err != nil:
		return Record{}, false, fmt.Errorf("keys: read: %w", err)
	}
	if s.cfg.Directory != nil {
		m, err := s.cfg.Directory.Membership(ctx, k.Account, k.Creator)
		if err != nil {
			return Record{}, false, fmt.Errorf("keys: read the account: %w", err)
		}
		organization = m.Organization
	}
	r, err = s.record(ctx, k)
	return r, organization, err
}

// CountIn counts the keys of a workspace.
func (s *Service) CountIn(ctx context.Context, account, workspace string) (int, error) {
	return s.cfg.Store.CountIn(ctx, account, workspace)
}

// CountOf counts the keys that a member created in a workspace, or, when
// workspace is "", in all of the account, management keys among them.
func (s *Service) CountOf(ctx context.Context, account, workspace, member string) (int, error) {
	return s.cfg.Store.CountOf(ctx, account, workspace, member)
}

func (s *Service) record(ctx context.Context, k Key) (Record, error) {
	list, err := s.records(ctx, []Key{k})
	if err != nil {
		return Record{}, err
	}
	return list[0], nil
}

// records adds to each key what it has spent. All figures are of one instant.
func (s *Service) records(ctx context.Context, list []Key) ([]Record, error) {
	out := make([]Record, len(list))
	for i, k := range list {
		out[i].Key = k
	}
	if s.cfg.Ledger != nil && len(list) > 0 {
		balances, err := s.cfg.Ledger.Balances(ctx, lines(list, s.cfg.Now()))
		if err != nil {
			return nil, fmt.Errorf("keys: read what was spent: %w", err)
		}
		for i := range out {
			for w := range out[i].Usage {
				out[i].Usage[w] = balances[i*len(out[i].Usage)+w].Spent
			}
		}
	}
	for i := range out {
		if r := &out[i]; r.Limit != nil {
			r.Remaining = new(max(*r.Limit-r.Usage[r.Reset].Of(r.IncludeBYOK), 0))
		}
	}
	return out, nil
}

// lines returns the lines of the keys in the current period of every interval.
func lines(list []Key, now time.Time) []router.Line {
	var windows [router.Daily + 1]string
	for w := range windows {
		windows[w] = router.Interval(w).Window(now)
	}
	all := make([]router.Line, 0, len(list)*len(windows))
	for _, k := range list {
		for _, window := range windows {
			all = append(all, router.OwnerKey.Line(router.Principal{KeyHash: k.Hash}, window))
		}
	}
	return all
}
