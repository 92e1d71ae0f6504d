package memory

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

var _ organization.Store = (*organizationStore)(nil)

type organizationStore struct {
	mu     sync.RWMutex
	byID   map[string]*accountRows
	record func(router.Change)
	book   *book // keeps the versions of limits
}

// accountRows is an account with its members, workspaces and payments.
type accountRows struct {
	account    organization.Account
	payments   map[string]organization.Payment
	members    map[string]organization.Member
	workspaces map[string]*workspaceRows // by id
}

type workspaceRows struct {
	workspace organization.Workspace
	members   map[string]organization.Membership // by user; the role is the member's
}

func newOrganizationStore(record func(router.Change), b *book) *organizationStore {
	return &organizationStore{byID: map[string]*accountRows{}, record: record, book: b}
}

// raise raises the version of an owner's record to n.
func (s *organizationStore) raise(o router.Owner, of router.Principal, n int64) {
	s.book.outdate(router.Version{Line: o.Line(of, ever), N: n})
}

// read runs f on an account's rows; change does too, and f may change them. Both return
// [organization.ErrNotFound] if there is no such account.
func (s *organizationStore) read(ctx context.Context, account string, f func(*accountRows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows, ok := s.byID[account]
	if !ok {
		return organization.ErrNotFound
	}
	return f(rows)
}

func (s *organizationStore) change(ctx context.Context, account string, c router.Change, f func(*accountRows) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, ok := s.byID[account]
	if !ok {
		return organization.ErrNotFound
	}
	if err := f(rows); err != nil {
		return err
	}
	s.record(c)
	return nil
}

func (s *organizationStore) CreateAccount(
	ctx context.Context, a organization.Account, owner organization.Member, w organization.Workspace, change router.Change,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.byID[a.ID]; taken {
		return organization.ErrExists
	}
	s.byID[a.ID] = &accountRows{
		account:    copyAccount(a),
		payments:   map[string]organization.Payment{},
		members:    map[string]organization.Member{owner.ID: owner},
		workspaces: map[string]*workspaceRows{w.ID: newWorkspaceRows(w)},
	}
	s.record(change)
	return nil
}

func (s *organizationStore) Account(ctx context.Context, id string) (a organization.Account, err error) {
	err = s.read(ctx, id, func(rows *accountRows) error {
		a = copyAccount(rows.account)
		return nil
	})
	return a, err
}

func (s *organizationStore) ReplaceAccount(ctx context.Context, a organization.Account, change router.Change) error {
	return s.change(ctx, a.ID, change, func(rows *accountRows) error { return s.replace(rows, a) })
}

func (s *organizationStore) replace(rows *accountRows, a organization.Account) error {
	if a.Version != rows.account.Version {
		return organization.ErrConflict
	}
	a.Version++
	rows.account = copyAccount(a)
	s.raise(router.OwnerAccount, router.Principal{Account: a.ID}, a.Version)
	return nil
}

func (s *organizationStore) AddPayment(
	ctx context.Context, p organization.Payment, a organization.Account, change router.Change,
) error {
	return s.change(ctx, a.ID, change, func(rows *accountRows) error {
		if _, taken := rows.payments[p.ID]; taken {
			return organization.ErrExists
		}
		if err := s.replace(rows, a); err != nil {
			return err
		}
		rows.payments[p.ID] = p
		return nil
	})
}

func (s *organizationStore) Payment(ctx context.Context, account, id string) (p organization.Payment, err error) {
	err = s.read(ctx, account, func(rows *accountRows) (err error) {
		p, err = get(rows.payments, id)
		return err
	})
	return p, err
}

func (s *organizationStore) AddMember(ctx context.Context, account string, m organization.Member, change router.Change) error {
	return s.change(ctx, account, change, func(rows *accountRows) error {
		if _, taken := rows.members[m.ID]; taken {
			return organization.ErrExists
		}
		rows.members[m.ID] = m
		return nil
	})
}

func (s *organizationStore) ReplaceMember(ctx context.Context, account string, m organization.Member, change router.Change) error {
	return s.change(ctx, account, change, func(rows *accountRows) error {
		was, err := get(rows.members, m.ID)
		if err != nil {
			return err
		}
		if m.Version != was.Version {
			return organization.ErrConflict
		}
		m.Version++
		rows.members[m.ID] = m
		return nil
	})
}

func (s *organizationStore) RemoveMember(ctx context.Context, account, id string, change router.Change) error {
	return s.change(ctx, account, change, func(rows *accountRows) error {
		if _, err := get(rows.members, id); err != nil {
			return err
		}
		delete(rows.members, id)
		for _, w := range rows.workspaces {
			delete(w.members, id)
		}
		return nil
	})
}

func (s *organizationStore) Member(ctx context.Context, account, id string) (m organization.Member, err error) {
	err = s.read(ctx, account, func(rows *accountRows) (err error) {
		m, err = get(rows.members, id)
		return err
	})
	return m, err
}

func (s *organizationStore) Members(
	ctx context.Context, account string, offset, limit int,
) (list []organization.Member, total int, err error) {
	err = s.read(ctx, account, func(rows *accountRows) error {
		list, total = pageOf(slices.SortedFunc(maps.Values(rows.members), func(a, b organization.Member) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		}), offset, limit)
		return nil
	})
	return list, total, err
}

func copyAccount(a organization.Account) organization.Account {
	a.Allowed, a.Ignored = slices.Clone(a.Allowed), slices.Clone(a.Ignored)
	return a
}

// errNothing makes change leave no record, because nothing changed.
var errNothing = errors.New("memory: nothing changed")

// settled turns errNothing into a count of 0.
func settled(count int, err error) (int, error) {
	switch {
	case errors.Is(err, errNothing):
		return 0, nil
	case err != nil:
		return 0, err
	}
	return count, nil
}

// get returns a row, or [organization.ErrNotFound].
func get[T any](rows map[string]T, id string) (T, error) {
	row, ok := rows[id]
	if !ok {
		return row, organization.ErrNotFound
	}
	return row, nil
}

// pageOf returns limit rows from offset on, or all of them if limit is 0, and the total
// number.
func pageOf[T any](all []T, offset, limit int) ([]T, int) {
	from := min(offset, len(all))
	to := len(all)
	if limit > 0 {
		to = min(from+limit, to)
	}
	return all[from:to:to], len(all)
}
