package organization

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/router"
)

// The bounds of names and descriptions, in characters.
const (
	maxName        = 100
	maxDescription = 500
	maxSlug        = 50
)

// maxID is the longest id that the embedding program may give, in bytes.
const maxID = 256

// NewAccount holds the settings of a new account.
type NewAccount struct {
	ID       string // "" makes one
	Name     string // 1 to 100 characters
	Personal bool
	Owner    Member // becomes an admin; ID and Email are required
}

// CreateAccount makes an account with its owner as first member and a default
// workspace, slug "default". An id that is taken is ErrExists.
func (s *Service) CreateAccount(ctx context.Context, by router.Actor, n NewAccount) (Account, error) {
	n.Owner.Role = RoleAdmin
	wrong := n.Owner.wrong("owner.")
	checkName(&wrong, n.Name)
	if len(n.ID) > maxID {
		wrong.add("id", "must have at most %d bytes", maxID)
	}
	wrong.storable("id", n.ID)
	if err := refuse(wrong); err != nil {
		return Account{}, err
	}
	if n.ID == "" {
		n.ID = s.newID()
	}
	now := s.now()
	w := Workspace{
		ID: s.newID(), Account: n.ID, Slug: "default", Name: "Default", CreatedBy: n.Owner.ID,
		DefaultGuardrail: s.newID(), CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	a := Account{
		ID: n.ID, Name: n.Name, Personal: n.Personal, DefaultWorkspace: w.ID, CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	n.Owner.CreatedAt, n.Owner.Version = now, 1
	by.Principal.Account = n.ID
	change, err := s.change(by, "create", "account", a.ID, nil, a)
	if err != nil {
		return Account{}, err
	}
	if err := s.cfg.Store.CreateAccount(ctx, a, n.Owner, w, change); err != nil {
		return Account{}, err
	}
	s.forget(a.ID)
	return a, nil
}

// Account returns an account.
func (s *Service) Account(ctx context.Context, id string) (Account, error) {
	return s.cfg.Store.Account(ctx, id)
}

// AccountUpdate changes an account.
type AccountUpdate struct {
	Name             router.Update[string]
	FilteredCatalog  router.Update[bool]
	Allowed, Ignored router.Update[[]string] // provider slugs; no entries allow all, ignore none
	ZDR              router.Update[bool]
	Prepaid          router.Update[bool] // off: the account spends without a limit, whatever was paid
}

// UpdateAccount changes the actor's account.
func (s *Service) UpdateAccount(ctx context.Context, by router.Actor, u AccountUpdate) (Account, error) {
	var wrong issues
	if u.Name.Set {
		checkName(&wrong, u.Name.To)
	}
	checkSlugs(&wrong, "allowed", u.Allowed.To)
	checkSlugs(&wrong, "ignored", u.Ignored.To)
	if err := refuse(wrong); err != nil {
		return Account{}, err
	}
	return s.changeAccount(ctx, by, func(a *Account) error {
		set(&a.Name, u.Name)
		set(&a.FilteredCatalog, u.FilteredCatalog)
		set(&a.Allowed, u.Allowed)
		set(&a.Ignored, u.Ignored)
		set(&a.ZDR, u.ZDR)
		set(&a.Prepaid, u.Prepaid)
		a.Allowed, a.Ignored = slices.Clone(a.Allowed), slices.Clone(a.Ignored)
		return nil
	})
}

// changeAccount reads, changes and replaces the actor's account.
func (s *Service) changeAccount(ctx context.Context, by router.Actor, edit func(*Account) error) (Account, error) {
	var a Account
	err := retry(func() error {
		before, err := s.cfg.Store.Account(ctx, by.Principal.Account)
		if err != nil {
			return err
		}
		a = before
		if err := edit(&a); err != nil {
			return err
		}
		a.UpdatedAt = s.now()
		change, err := s.change(by, "update", "account", a.ID, before, a)
		if err != nil {
			return err
		}
		err = s.cfg.Store.ReplaceAccount(ctx, a, change)
		s.forget(a.ID) // also after a failure, because the store may have made the change
		return err
	})
	if err != nil {
		return Account{}, err
	}
	a.Version++
	return a, nil
}

// Settings returns an organization's settings. A personal account has none; the
// error is ErrNotFound.
func (s *Service) Settings(ctx context.Context, account string) (Settings, error) {
	a, err := s.organization(ctx, account)
	return Settings{FilteredCatalog: a.FilteredCatalog}, err
}

// SetFilteredCatalog changes the settings of the actor's organization. A personal
// account has none; the error is ErrNotFound.
func (s *Service) SetFilteredCatalog(ctx context.Context, by router.Actor, on bool) (Settings, error) {
	a, err := s.changeAccount(ctx, by, func(a *Account) error {
		if a.Personal {
			return ErrNotFound
		}
		a.FilteredCatalog = on
		return nil
	})
	return Settings{FilteredCatalog: a.FilteredCatalog}, err
}

// organization returns an account that is not personal.
func (s *Service) organization(ctx context.Context, account string) (Account, error) {
	a, err := s.cfg.Store.Account(ctx, account)
	if err == nil && a.Personal {
		err = ErrNotFound
	}
	if err != nil {
		return Account{}, err
	}
	return a, nil
}

// set applies an update to a field.
func set[T any](to *T, u router.Update[T]) {
	if u.Set {
		*to = u.To
	}
}

func checkName(wrong *issues, name string) {
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName {
		wrong.add("name", "must have 1 to %d characters", maxName)
	}
	wrong.storable("name", name)
}

func checkSlugs(wrong *issues, path string, slugs []string) {
	for _, slug := range slugs {
		switch {
		case strings.TrimSpace(slug) == "" || len(slug) > maxID || !router.Storable(slug):
			wrong.add(path, "must have entries of 1 to %d bytes, in UTF-8 without U+0000", maxID)
			return
		case !router.ProviderCanBe(slug):
			wrong.add(path, "must have entries without spaces around them, *, suffixes and empty parts: others can name nothing")
			return
		}
	}
}
