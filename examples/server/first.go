package main

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

// unshown is what the account is called until its first keys have been shown.
const unshown = demoName + " (its first keys were not shown yet)"

const (
	// beginTime is how long a process may take to show the keys. Another one then
	// assumes that it has died, and makes other keys.
	beginTime = 10 * time.Second
	lookEvery = 50 * time.Millisecond
)

// errOvertaken is a first start that took so long that another process made
// other keys in place of those that were shown.
var errOvertaken = errors.New("another process has begun anew: the first keys shown here are void")

// firstStart ends when its keys are shown.
type firstStart struct {
	firstKeys

	seeder  *seeder
	account organization.Account
}

// begin makes the account and its keys, unless they exist: on a later start the
// result is nil. Any number of processes may begin at once with the same
// stores: one of them makes the keys, the others wait until it has shown them.
// When it dies before, the keys that nobody has seen are replaced. The caller
// is alone when no other process can be beginning; then it does not wait for
// one that has died.
func (s *seeder) begin(ctx context.Context, alone bool) (*firstStart, error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		a, err := s.stores.Organization.Account(ctx, demoAccount)
		switch {
		case errors.Is(err, organization.ErrNotFound):
			if err := s.account(ctx, unshown); err != nil && !errors.Is(err, organization.ErrExists) {
				return nil, err
			}
			continue
		case err != nil:
			return nil, err
		case a.Name != unshown:
			return nil, nil //nolint:nilnil // nothing is to be shown, as documented
		case alone || a.Version == 1 || s.late(a):
			f, err := s.claim(ctx, a)
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

// late says whether the process that has claimed the account has used up its time.
func (s *seeder) late(a organization.Account) bool {
	return s.now().Sub(a.UpdatedAt).Abs() >= beginTime
}

// claim renames the account, so that other processes wait, and makes its keys.
func (s *seeder) claim(ctx context.Context, a organization.Account) (f *firstStart, err error) {
	f = &firstStart{seeder: s, account: a}
	if err := f.replace(ctx, unshown); err != nil {
		return nil, err
	}
	if err := s.dropKeys(ctx, a.DefaultWorkspace); err != nil {
		return nil, err
	}
	f.firstKeys, err = s.rest(ctx)
	return f, err
}

// dropKeys deletes the keys that a process before made.
func (s *seeder) dropKeys(ctx context.Context, home string) error {
	for _, q := range []keys.Query{{Management: true}, {Workspace: home}} {
		q.IncludeDisabled, q.Limit = true, keys.PageSize
		list, err := s.stores.Keys.List(ctx, demoAccount, q)
		if err != nil {
			return err
		}
		for _, k := range list {
			if err := s.Keys.Delete(ctx, s.by(), k.Hash); err != nil && !errors.Is(err, keys.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// shown ends the first start, because the keys were shown. It returns errOvertaken
// when that took so long that they are void.
func (f *firstStart) shown(ctx context.Context) error {
	err := f.replace(ctx, demoName)
	if errors.Is(err, organization.ErrConflict) {
		return errOvertaken
	}
	return err
}

// replace renames the account, unless another process did meanwhile.
func (f *firstStart) replace(ctx context.Context, name string) error {
	a := f.account
	a.Name, a.UpdatedAt = name, f.seeder.now().UTC().Truncate(time.Microsecond)
	if err := f.seeder.stores.Organization.ReplaceAccount(ctx, a, router.Change{
		ID: uuid.New(), At: a.UpdatedAt, Actor: f.seeder.by(), Action: "update", Kind: "account", Object: a.ID, Account: a.ID,
	}); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	a.Version++
	f.account = a
	return nil
}
