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

// unshown is the name of the account until its first keys have been shown.
const unshown = demoName + " (its first keys were not shown yet)"

const (
	// beginTime is how long a process may take to show the keys. After that another
	// process assumes that it has died, and makes new keys.
	beginTime = 10 * time.Second
	lookEvery = 50 * time.Millisecond
)

// errOvertaken means that the first start took longer than beginTime, so that another
// process has replaced the keys that this one has shown.
var errOvertaken = errors.New("this start took too long, and another process has replaced the keys shown here")

// firstStart is a first start whose keys have not been shown yet.
type firstStart struct {
	firstKeys

	seeder  *seeder
	account organization.Account
}

// begin makes the account and its keys, unless they exist; then it returns nil. Any
// number of processes may begin at once with the same stores: one of them makes the
// keys, and the others wait until it has shown them. If that process dies first, its
// keys are replaced. With alone set, no other process uses the stores, so begin does
// not wait for a process that may have died.
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
			return nil, nil //nolint:nilnil // a later start, as documented
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

// late reports whether the process that has claimed the account has exceeded beginTime.
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

// dropKeys deletes the keys that an earlier process made.
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

// shown records that the keys were shown, which ends the first start. It returns
// errOvertaken if another process has replaced them.
func (f *firstStart) shown(ctx context.Context) error {
	err := f.replace(ctx, demoName)
	if errors.Is(err, organization.ErrConflict) {
		return errOvertaken
	}
	return err
}

// replace renames the account. It returns an error wrapping organization.ErrConflict
// if another process has changed the account meanwhile.
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
