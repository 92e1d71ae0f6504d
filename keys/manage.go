package keys

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// PageSize is how many keys [Service.List] returns at most.
const PageSize = 100

// maxLimit is the largest limit of a key.
const maxLimit = 9_000_000_000 * router.Dollar

// attempts bounds how often a change that met ErrConflict is made again, each time
// from the key as it is stored by then.
const attempts = 64

// Create makes a key with the settings of k and returns its text, string(secret),
// which is not stored. It sets Hash, Label, CreatedAt, UpdatedAt and Version. The
// account is the actor's, or that of k if the actor is the embedding program and
// names none. Without other settings in k the workspace is the account's default
// one, and the creator is the actor's member.
//
// Only the embedding program may make management keys, provisioned keys, and keys
// of another account than the actor's; otherwise the error is ErrForbidden. The
// Creator of a management key must own the account or, in an organization, be an
// admin.
func (s *Service) Create(ctx context.Context, by router.Actor, k Key) (Record, router.Secret, error) {
	program := isProgram(by)
	if program && by.Principal.Account == "" {
		by.Principal.Account = k.Account
	}
	if k.Account == "" {
		k.Account = by.Principal.Account
	}
	if k.Account != by.Principal.Account || !program && (k.Management || k.Provisioned) {
		return Record{}, "", ErrForbidden
	}
	now := s.now()
	if err := s.settle(ctx, by, &k, now); err != nil {
		return Record{}, "", err
	}
	var raw [32]byte
	if _, err := io.ReadFull(s.cfg.Random, raw[:]); err != nil {
		return Record{}, "", fmt.Errorf("keys: no randomness: %w", err)
	}
	text := s.cfg.Prefix + "-v1-" + hex.EncodeToString(raw[:])
	k.Hash, k.Label = hash(text), text[:12]+"..."+text[len(text)-4:]
	k.CreatedAt, k.UpdatedAt, k.Version = now, now, 1
	err := s.cfg.Store.Create(ctx, k, s.change(by, "create", nil, &k))
	s.forget(k.Hash)
	if err != nil {
		return Record{}, "", fmt.Errorf("keys: create: %w", err)
	}
	if err := s.stillThere(ctx, by, k); err != nil {
		return Record{}, "", err
	}
	return Record{Key: k, Remaining: k.Limit}, router.Secret(text), nil
}

// Check returns the error with which [Service.Create] would refuse a key of the
// actor's account, or nil. It stores nothing.
func (s *Service) Check(ctx context.Context, by router.Actor, k Key) error {
	k.Account = by.Principal.Account
	return s.settle(ctx, by, &k, s.now())
}

// settle checks the settings of a new key and fills in its defaults.
func (s *Service) settle(ctx context.Context, by router.Actor, k *Key, now time.Time) error {
	k.ExpiresAt = k.ExpiresAt.UTC().Truncate(time.Microsecond)
	var wrong issues
	wrong.name(k.Name)
	wrong.user("external.user", k.ExternalUser)
	wrong.user("creator_user_id", k.Creator)
	wrong.limit(k.Limit, k.Reset)
	if !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(now) {
		wrong.add("expires_at", "must be in the future")
	}
	if err := s.settleCreator(ctx, by, k, &wrong); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return &systemone.InvalidError{Issues: wrong}
	}
	if k.Management {
		k.Workspace = "" // it is for the whole account
		return nil
	}
	workspace, err := s.workspace(ctx, by, k.Workspace)
	k.Workspace = workspace
	return err
}

// settleCreator sets the creator of a new key, and checks that the creator may have
// such a key.
func (s *Service) settleCreator(ctx context.Context, by router.Actor, k *Key, wrong *issues) error {
	given := k.Creator != ""
	if !given {
		k.Creator = by.Principal.Member
	}
	if k.Management && k.Creator == "" {
		wrong.add("creator_user_id", "a management key needs an owner")
	}
	if !given && !k.Management {
		return nil
	}
	if s.cfg.Directory == nil {
		if !isProgram(by) {
			wrong.add("creator_user_id", "is for organizations")
		}
		return nil
	}
	m, err := s.cfg.Directory.Membership(ctx, k.Account, k.Creator)
	if err != nil {
		return fmt.Errorf("keys: whose key it is: %w", err)
	}
	switch {
	case k.Management && k.Creator != "" && (!m.Member || m.Organization && !m.Admin):
		wrong.add("creator_user_id", "must be the owner or an admin of the account")
	case !k.Management && !isProgram(by) && !m.Organization:
		wrong.add("creator_user_id", "is for organizations")
	case !k.Management && !m.Member:
		wrong.add("creator_user_id", "must be a member of the account")
	}
	return nil
}

// workspace returns the id of the actor's workspace. Without a directory any id of
// the embedding program is accepted.
func (s *Service) workspace(ctx context.Context, by router.Actor, id string) (string, error) {
	if s.cfg.Directory != nil {
		return s.cfg.Directory.Workspace(ctx, by.Principal.Account, id)
	}
	if id != "" && !isProgram(by) {
		return "", ErrNotFound
	}
	return id, nil
}

// stillThere deletes a new key whose workspace was deleted while the key was made.
// The deletion of the workspace did not see the key.
func (s *Service) stillThere(ctx context.Context, by router.Actor, k Key) error {
	if k.Management {
		return nil
	}
	_, err := s.workspace(ctx, by, k.Workspace)
	if !errors.Is(err, ErrNotFound) {
		return nil // it exists, or the directory cannot tell
	}
	return errors.Join(err, s.discard(context.WithoutCancel(ctx), by, k.Hash))
}

// ClearWorkspace deletes the keys of a deleted workspace of the actor's account from
// the store. Such keys can neither be used nor seen. A workspace that exists is left
// alone. Without a directory ClearWorkspace does nothing.
func (s *Service) ClearWorkspace(ctx context.Context, by router.Actor, workspace string) error {
	if workspace == "" || s.cfg.Directory == nil {
		return nil
	}
	if _, err := s.cfg.Directory.Workspace(ctx, by.Principal.Account, workspace); !errors.Is(err, ErrNotFound) {
		return err
	}
	for {
		q := Query{Workspace: workspace, IncludeDisabled: true, Limit: PageSize}
		list, err := s.cfg.Store.List(ctx, by.Principal.Account, q)
		if err != nil {
			return fmt.Errorf("keys: clear a workspace: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		for _, k := range list {
			if err := s.discard(ctx, by, k.Hash); err != nil {
				return fmt.Errorf("keys: clear a workspace: %w", err)
			}
		}
	}
}

// discard deletes a key from the store, if it is there.
func (s *Service) discard(ctx context.Context, by router.Actor, hash string) error {
	err := ErrConflict
	for n := 0; n < attempts && errors.Is(err, ErrConflict); n++ {
		var k Key
		if k, err = s.cfg.Store.Get(ctx, hash); err == nil {
			err = s.cfg.Store.Delete(ctx, k, s.change(by, "delete", &k, nil))
		}
	}
	s.forget(hash)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Patch changes a key. It cannot move it, and the expiry is fixed.
type Patch struct {
	Name        router.Update[string]
	Disabled    router.Update[bool]
	Limit       router.Update[*router.USD] // nil: no limit
	Reset       router.Update[router.Interval]
	IncludeBYOK router.Update[bool]
}

// Update changes a key of the actor's account, all of p or nothing. The change acts
// on the next call; in other processes on the next call that holds money
// ([Service.Intercept]), and on the rest within ten seconds. What the key has spent
// counts against a new limit. Only the embedding program may change a key that a
// connect client provisioned; otherwise the error is ErrProvisioned.
func (s *Service) Update(ctx context.Context, by router.Actor, hash string, p Patch) (Record, error) {
	var wrong issues
	if p.Name.Set {
		wrong.name(p.Name.To)
	}
	wrong.limit(p.Limit.To, p.Reset.To)
	if len(wrong) > 0 {
		return Record{}, &systemone.InvalidError{Issues: wrong}
	}
	var k Key
	err := s.retry(ctx, by, hash, func(before Key) error {
		k = before
		p.apply(&k)
		// UpdatedAt increases even if the clock stands still or steps back.
		if k.UpdatedAt = s.now(); !k.UpdatedAt.After(before.UpdatedAt) {
			k.UpdatedAt = before.UpdatedAt.Add(time.Microsecond)
		}
		return s.cfg.Store.Replace(ctx, k, s.change(by, "update", &before, &k))
	})
	if err != nil {
		return Record{}, err
	}
	k.Version++
	return s.record(ctx, k)
}

func (p *Patch) apply(k *Key) {
	set(&k.Name, p.Name)
	set(&k.Disabled, p.Disabled)
	set(&k.Limit, p.Limit)
	set(&k.Reset, p.Reset)
	set(&k.IncludeBYOK, p.IncludeBYOK)
}

// Delete deletes a key of the actor's account for good. Its text is refused from then
// on. In other processes calls that hold money are refused at once, others within
// ten seconds. The ledger keeps what the key has spent.
func (s *Service) Delete(ctx context.Context, by router.Actor, hash string) error {
	return s.retry(ctx, by, hash, func(k Key) error {
		return s.cfg.Store.Delete(ctx, k, s.change(by, "delete", &k, nil))
	})
}

// retry makes a change to a key that the actor may change, until no concurrent
// change conflicts with it.
func (s *Service) retry(ctx context.Context, by router.Actor, hash string, change func(Key) error) error {
	for range attempts {
		k, err := s.changeable(ctx, by, hash)
		if err != nil {
			return err
		}
		err = change(k)
		// Also after a failure, because the store may have made the change.
		s.forget(hash)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return fmt.Errorf("keys: change a key: %w", err)
		}
	}
	return ErrConflict
}

// changeable returns a key that the actor may change.
func (s *Service) changeable(ctx context.Context, by router.Actor, hash string) (Key, error) {
	k, err := s.visible(ctx, by, hash)
	if err == nil && k.Provisioned && !isProgram(by) {
		err = ErrProvisioned
	}
	return k, err
}

// visible returns a key of the actor's account. Only the embedding program sees
// management keys.
func (s *Service) visible(ctx context.Context, by router.Actor, hash string) (Key, error) {
	if _, ok := digestOf(hash); !ok { // cannot exist, and a store might reject such a text
		return Key{}, ErrNotFound
	}
	k, err := s.find(ctx, hash)
	switch {
	case err != nil:
		return Key{}, fmt.Errorf("keys: read: %w", err)
	case k.Account != by.Principal.Account, k.Management && !isProgram(by):
		return Key{}, ErrNotFound
	}
	return k, nil
}
