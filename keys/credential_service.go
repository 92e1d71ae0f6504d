package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// CredentialsConfig sets up [Credentials]. Write it with field names.
type CredentialsConfig struct {
	Store CredentialStore // required
	// SealingKeys encrypt the texts; at least one is required. The first one seals,
	// and all of them open. [Credentials.Reseal] says how to replace one.
	SealingKeys []SealingKey
	// Provider says whether a slug is that of a provider of the catalog that
	// takes an account's own credential; required.
	Provider func(slug string) bool
	// Model reports whether the catalog in force knows a name in a list of models.
	// A name that it does not know causes a warning. Nil: no warnings.
	Model func(name string) bool
	// Workspace returns the id of the account's workspace with the given id, the id
	// of its default workspace for "", or ErrNoCredential if there is none. A
	// credential whose workspace does not exist is not found. Nil accepts every id.
	Workspace func(ctx context.Context, account, workspace string) (string, error)
	// OwnsKey reports whether an API key belongs to the account. Nil accepts all.
	OwnsKey func(ctx context.Context, account, hash string) (bool, error)
	Now     func() time.Time // default time.Now
	NewID   func() uuid.UUID // default UUIDv7
}

// Credentials keeps the accounts' own credentials at providers and adds them to
// their calls. It is safe for concurrent use. Printing it shows no text.
type Credentials struct {
	cfg    CredentialsConfig // without SealingKeys
	sealer *sealer
	cache  *cache.Cache[scope, []offer]
}

// NewCredentials checks cfg and fills in its defaults. A mistake is
// [ErrConfig]; a key that is missing, too short or too long is one.
func NewCredentials(cfg CredentialsConfig) (*Credentials, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	switch {
	case cfg.Store == nil:
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	case cfg.Provider == nil:
		return nil, fmt.Errorf("%w: Provider is required", ErrConfig)
	}
	sealer, err := newSealer(cfg.SealingKeys)
	if err != nil {
		return nil, err
	}
	cfg.SealingKeys = nil
	if cfg.Workspace == nil {
		cfg.Workspace = func(_ context.Context, _, workspace string) (string, error) { return workspace, nil }
	}
	if cfg.OwnsKey == nil {
		cfg.OwnsKey = func(context.Context, string, string) (bool, error) { return true, nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		// Must cannot fail here: crypto/rand never does.
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	s := &Credentials{cfg: cfg, sealer: sealer}
	s.cache = s.newCache()
	return s, nil
}

// Format prints a name, whatever the verb.
func (*Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "keys.Credentials") }

// Create stores secret, sealed, with the settings of c for the actor's account. It
// sets ID, Account, Label, Order, CreatedAt and Revision, and Workspace where that
// is "". Mistakes are a [systemone.InvalidError] with the names of the HTTP
// interface.
func (s *Credentials) Create(ctx context.Context, by router.Actor, c Credential, secret router.Secret) (Credential, error) {
	c.ID, c.Account, c.Revision = s.cfg.NewID().String(), by.Principal.Account, 1
	c.Provider = strings.ToLower(c.Provider)
	c.Label, c.CreatedAt = label(secret), s.cfg.Now().UTC().Truncate(time.Microsecond)
	c.Models, c.KeyHashes, c.Members = slices.Clone(c.Models), slices.Clone(c.KeyHashes), slices.Clone(c.Members)
	if err := s.Check(ctx, by, c, secret); err != nil {
		return Credential{}, err
	}
	var err error
	if c.Workspace, err = s.cfg.Workspace(ctx, c.Account, c.Workspace); err != nil {
		return Credential{}, fmt.Errorf("keys: create credential: %w", err)
	}
	change, err := s.change(by, "create", nil, &c)
	if err != nil {
		return Credential{}, err
	}
	defer s.forget(c.Account, c.Workspace) // also after a failure, because the store may have made the change
	c.Order, err = s.cfg.Store.Create(ctx, StoredCredential{Credential: c, Sealed: s.sealer.seal(c, secret)}, change)
	if err != nil {
		return Credential{}, fmt.Errorf("keys: create credential: %w", err)
	}
	return c, nil
}

// Check returns what [Credentials.Create] would refuse of a credential and its
// text, or nil. It does not look at the workspace.
func (s *Credentials) Check(ctx context.Context, by router.Actor, c Credential, secret router.Secret) error {
	c.Account = by.Principal.Account
	var bad problems
	bad.secret(secret)
	if !s.cfg.Provider(strings.ToLower(c.Provider)) {
		bad.add("provider", "must be a provider of the catalog that takes an account's own credential")
	}
	bad.size(c)
	return s.check(ctx, &bad, c)
}

// Get returns one of the account's credentials, or [ErrNoCredential].
func (s *Credentials) Get(ctx context.Context, by router.Actor, id string) (Credential, error) {
	c, err := s.find(ctx, by, id)
	if err != nil {
		return Credential{}, fmt.Errorf("keys: get credential: %w", err)
	}
	return c.Credential, nil
}

// find returns one of the account's credentials. Credentials of a deleted workspace
// are not found, even if the store still has them.
func (s *Credentials) find(ctx context.Context, by router.Actor, id string) (StoredCredential, error) {
	c, err := s.cfg.Store.Get(ctx, by.Principal.Account, id)
	if err != nil {
		return StoredCredential{}, err
	}
	if _, err := s.cfg.Workspace(ctx, c.Account, c.Workspace); err != nil {
		return StoredCredential{}, err
	}
	return c, nil
}

// List returns a page of a workspace's credentials, the oldest first, and how
// many there are in all. The account is the actor's; Workspace "" is its
// default one.
func (s *Credentials) List(ctx context.Context, by router.Actor, q CredentialQuery) ([]Credential, int, error) {
	q.Account, q.Provider = by.Principal.Account, strings.ToLower(q.Provider)
	var err error
	if q.Workspace, err = s.cfg.Workspace(ctx, q.Account, q.Workspace); err != nil {
		return nil, 0, fmt.Errorf("keys: list credentials: %w", err)
	}
	list, total, err := s.cfg.Store.List(ctx, q)
	if err != nil {
		return nil, 0, fmt.Errorf("keys: list credentials: %w", err)
	}
	return list, total, nil
}

// CredentialPatch is a partial update. Nil lists lift a restriction, a nil
// name takes it away.
type CredentialPatch struct {
	Secret                     router.Update[router.Secret]
	Name                       router.Update[*string]
	Disabled, Fallback         router.Update[bool]
	Models, KeyHashes, Members router.Update[[]string]
}

// apply makes the changes, except that of the text itself.
func (p CredentialPatch) apply(c *Credential) {
	if p.Secret.Set {
		c.Label = label(p.Secret.To)
	}
	if p.Name.Set {
		c.Name = ""
		if p.Name.To != nil {
			c.Name = *p.Name.To
		}
	}
	set(&c.Disabled, p.Disabled)
	set(&c.Fallback, p.Fallback)
	set(&c.Models, p.Models)
	set(&c.KeyHashes, p.KeyHashes)
	set(&c.Members, p.Members)
}

func set[T any](to *T, u router.Update[T]) {
	if u.Set {
		*to = u.To
	}
}

// Update changes the members that p sets, all or none. The change acts on calls of
// this process that begin afterwards, and in other processes within 10 s.
func (s *Credentials) Update(ctx context.Context, by router.Actor, id string, p CredentialPatch) (Credential, error) {
	for {
		c, err := s.update(ctx, by, id, p)
		switch {
		case err == nil:
			return c, nil
		case !errors.Is(err, ErrCredentialChanged): // else a concurrent change succeeded: try again
			return Credential{}, fmt.Errorf("keys: update credential: %w", err)
		}
	}
}

func (s *Credentials) update(ctx context.Context, by router.Actor, id string, p CredentialPatch) (Credential, error) {
	c, err := s.find(ctx, by, id)
	if err != nil {
		return Credential{}, err
	}
	before := c.Credential
	p.apply(&c.Credential)
	var bad problems
	if p.Secret.Set {
		bad.secret(p.Secret.To)
		c.Sealed = s.sealer.seal(c.Credential, p.Secret.To)
	}
	if p.Models.Set || p.KeyHashes.Set || p.Members.Set {
		bad.size(c.Credential)
	}
	given := c.Credential
	if !p.KeyHashes.Set { // an API key may have been deleted since
		given.KeyHashes = nil
	}
	if !p.Models.Set { // an earlier version of the program may have accepted a name
		given.Models = nil
	}
	if err := s.check(ctx, &bad, given); err != nil {
		return Credential{}, err
	}
	after := c.Credential
	after.Revision++
	change, err := s.change(by, "update", &before, &after)
	if err != nil {
		return Credential{}, err
	}
	defer s.forget(c.Account, c.Workspace)
	if err := s.cfg.Store.Update(ctx, c, change); err != nil {
		return Credential{}, err
	}
	return after, nil
}

// Delete removes a credential for good, its sealed text with it.
func (s *Credentials) Delete(ctx context.Context, by router.Actor, id string) error {
	for {
		err := s.remove(ctx, by, id)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrCredentialChanged):
			return fmt.Errorf("keys: delete credential: %w", err)
		}
	}
}

func (s *Credentials) remove(ctx context.Context, by router.Actor, id string) error {
	c, err := s.find(ctx, by, id)
	if err != nil {
		return err
	}
	return s.discard(ctx, by, c)
}

// ClearWorkspace deletes the credentials, with their sealed texts, of a deleted
// workspace of the actor's account. A workspace that exists is left alone.
func (s *Credentials) ClearWorkspace(ctx context.Context, by router.Actor, workspace string) error {
	account := by.Principal.Account
	if _, err := s.cfg.Workspace(ctx, account, workspace); workspace == "" || !errors.Is(err, ErrNoCredential) {
		return err
	}
	for {
		list, _, err := s.cfg.Store.List(ctx, CredentialQuery{Account: account, Workspace: workspace, Limit: PageSize})
		if err != nil {
			return fmt.Errorf("keys: clear a workspace: %w", err)
		}
		if len(list) == 0 {
			return nil
		}
		for _, c := range list {
			err := s.discard(ctx, by, StoredCredential{Credential: c})
			if err != nil && !errors.Is(err, ErrNoCredential) && !errors.Is(err, ErrCredentialChanged) {
				return fmt.Errorf("keys: clear a workspace: %w", err)
			}
		}
	}
}

func (s *Credentials) discard(ctx context.Context, by router.Actor, c StoredCredential) error {
	change, err := s.change(by, "delete", &c.Credential, nil)
	if err != nil {
		return err
	}
	defer s.forget(c.Account, c.Workspace)
	return s.cfg.Store.Delete(ctx, c.Account, c.ID, c.Revision, change)
}
