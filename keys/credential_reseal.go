package keys

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// Reseal seals the texts of a workspace's credentials again that are not sealed
// with the first of the SealingKeys, and returns how many there were. Disabled
// credentials are included; "" is the account's default workspace.
//
// To replace a sealing key, put the new one first in all processes, reseal every
// workspace of every account, and then remove the old one. Reseal may be repeated.
// It ends with ErrSealed at a text that no key opens.
func (s *Credentials) Reseal(ctx context.Context, by router.Actor, workspace string) (int, error) {
	q := CredentialQuery{Account: by.Principal.Account, Limit: PageSize}
	var err error
	if q.Workspace, err = s.cfg.Workspace(ctx, q.Account, workspace); err != nil {
		return 0, fmt.Errorf("keys: reseal credentials: %w", err)
	}
	defer s.forget(q.Account, q.Workspace)
	resealed := 0
	for {
		list, _, err := s.cfg.Store.List(ctx, q)
		if err != nil {
			return resealed, fmt.Errorf("keys: reseal credentials: %w", err)
		}
		for _, c := range list {
			n, err := s.reseal(ctx, by, c.ID)
			if err != nil {
				return resealed, fmt.Errorf("keys: reseal credentials: %w", err)
			}
			resealed += n
		}
		if len(list) < q.Limit {
			return resealed, nil
		}
		q.Offset += len(list)
	}
}

// reseal seals one text again if it is not sealed with the current key, and returns
// 1 if it was, else 0.
func (s *Credentials) reseal(ctx context.Context, by router.Actor, id string) (int, error) {
	for {
		c, err := s.find(ctx, by, id)
		if errors.Is(err, ErrNoCredential) { // deleted since it was listed
			return 0, nil
		}
		if err != nil || c.Sealed.KeyID == s.sealer.current {
			return 0, err
		}
		text, err := s.sealer.open(c)
		if err != nil {
			return 0, err
		}
		c.Sealed = s.sealer.seal(c.Credential, text)
		after := c.Credential
		after.Revision++
		change, err := s.change(by, "reseal", &c.Credential, &after)
		if err != nil {
			return 0, err
		}
		switch err := s.cfg.Store.Update(ctx, c, change); {
		case err == nil:
			return 1, nil
		case !errors.Is(err, ErrCredentialChanged): // else a concurrent change came first
			return 0, err
		}
	}
}
