package stack

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// unshown is what the account is called until somebody has seen its first keys.
const unshown = accountName + " (its first keys were not shown yet)"

// A process that begins has so long to show the keys, before another one takes
// it for dead and makes others.
const (
	beginTime = 10 * time.Second
	lookEvery = 50 * time.Millisecond
)

// ErrOvertaken is a first start that took so long that another process made
// other keys in place of those that were shown.
var ErrOvertaken = errors.New("another process has begun anew: the first keys shown here are void")

// First is a first start, which ends with [First.Shown].
type First struct {
	Seeded

	stack   *Stack
	account organization.Account
}

// Begin makes what [Stack.Seed] makes unless it is there: on a later start the
// result is nil. Any number of processes may begin at once with the same
// stores: one of them makes the keys, the others wait until it has shown them.
// When it dies before, the keys that nobody has seen are replaced. The caller
// is alone when no other process can be beginning; then it does not wait for
// one that has died.
func (s *Stack) Begin(ctx context.Context, alone bool) (*First, error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		a, err := s.stores.Organization.Account(ctx, Account)
		switch {
		case errors.Is(err, organization.ErrNotFound):
			if err := s.seedAccount(ctx, unshown); err != nil && !errors.Is(err, organization.ErrExists) {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		case a.Name != unshown:
			return nil, nil //nolint:nilnil // nothing is to be shown, as documented
		case alone || a.Version == 1 || s.late(a):
			f, err := s.begin(ctx, a)
			if !errors.Is(err, organization.ErrConflict) {
				return f, err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-look.C:
		}
	}
}

// late says whether whoever has claimed the account has had its time.
func (s *Stack) late(a organization.Account) bool {
	return s.now().Sub(a.UpdatedAt).Abs() >= beginTime
}

// begin claims an account and makes its keys.
func (s *Stack) begin(ctx context.Context, a organization.Account) (f *First, err error) {
	f = &First{stack: s, account: a}
	if err := f.replace(ctx, unshown); err != nil {
		return nil, err
	}
	if err := s.dropKeys(ctx, a.DefaultWorkspace); err != nil {
		return nil, err
	}
	f.Seeded, err = s.seedRest(ctx)
	return f, err
}

// dropKeys deletes the keys of whoever began before.
func (s *Stack) dropKeys(ctx context.Context, home string) error {
	for _, q := range []keys.Query{{Management: true}, {Workspace: home}} {
		q.IncludeDisabled, q.Limit = true, keys.PageSize
		list, err := s.stores.Keys.List(ctx, Account, q)
		if err != nil {
			return err
		}
		for _, k := range list {
			if err := s.Keys.Delete(ctx, seeder(), k.Hash); err != nil && !errors.Is(err, keys.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// Shown ends the first start: the keys have reached somebody. It returns
// ErrOvertaken when that took so long that they are void.
func (f *First) Shown(ctx context.Context) error {
	err := f.replace(ctx, accountName)
	if errors.Is(err, organization.ErrConflict) {
		return ErrOvertaken
	}
	return err
}

// replace renames the account, unless somebody else did meanwhile.
func (f *First) replace(ctx context.Context, name string) error {
	a := f.account
	a.Name, a.UpdatedAt = name, f.stack.now().UTC().Truncate(time.Microsecond)
	if err := f.stack.stores.Organization.ReplaceAccount(ctx, a, router.Change{
		ID: uuid.New(), At: a.UpdatedAt, Actor: seeder(), Action: "update", Kind: "account", Object: a.ID, Account: a.ID,
	}); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	a.Version++
	f.account = a
	return nil
}
