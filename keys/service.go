package keys

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// Balancer reads what was spent. Every [router.Ledger] is one.
type Balancer interface {
	Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error)
}

// Membership says how a user belongs to an account. The zero value does not.
type Membership struct {
	Organization bool // the account is an organization; else it is personal
	Member       bool // the user belongs to the account
	Admin        bool // the user is a member who administers the account
}

// Directory knows the members and the workspaces of accounts.
type Directory interface {
	// Membership returns how a user belongs to an account. For an account that it
	// does not know it returns the zero Membership.
	Membership(ctx context.Context, account, user string) (Membership, error)
	// Workspace returns the id of the account's workspace with the given id, the id
	// of its default workspace for "", or ErrNotFound if there is none.
	Workspace(ctx context.Context, account, id string) (string, error)
}

// Config sets up a [Service]. Write it with field names: fields are added in
// minor versions.
type Config struct {
	Store  Store    // required
	Ledger Balancer // the router's, to show what keys have spent; nil shows 0, and limits still hold
	// Directory checks members and workspaces when a key is made or listed. A key
	// whose workspace no longer exists is not found. Nil: there are neither
	// organizations nor workspaces.
	Directory Directory
	Rates     RateLimits // off by default
	Prefix    string     // of new keys' text; default "sk-rt"; letters, digits and dashes, 1 to 32
	// Now is the clock; default time.Now. It is read on every request.
	Now    func() time.Time
	NewID  func() uuid.UUID // of records of changes; default uuid.New
	Random io.Reader        // source of new keys; default crypto/rand
}

// Service makes, checks and manages keys. It is safe for concurrent use.
//
// Methods that change something take the actor who does it, and act on the keys of
// by.Principal.Account. An actor with neither a key nor Management is the embedding
// program. The caller must check that the actor may manage keys.
type Service struct {
	cfg   Config
	cache *cache.Cache[digest, *known]
	rates *limiter
}

// New checks cfg and fills in its defaults. A mistake is ErrConfig.
func New(cfg Config) (*Service, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.Store == nil {
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "sk-rt"
	}
	if len(cfg.Prefix) > 32 {
		return nil, fmt.Errorf("%w: Prefix is longer than 32 characters", ErrConfig)
	}
	for _, c := range []byte(cfg.Prefix) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return nil, fmt.Errorf("%w: Prefix may hold letters, digits and dashes", ErrConfig)
		}
	}
	if err := cfg.Rates.check(); err != nil {
		return nil, err
	}
	clock := cfg.Now
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = uuid.New
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	s := &Service{cfg: cfg, rates: newLimiter(cfg.Rates)}
	s.cache = s.newCache(clock)
	return s, nil
}

// find returns a key of any account, or ErrNotFound. A key of a deleted workspace is
// not found even if the store still has it, because a key may be created after the
// deletion has counted the workspace's keys.
func (s *Service) find(ctx context.Context, hash string) (Key, error) {
	k, err := s.cfg.Store.Get(ctx, hash)
	if err != nil || k.Management || s.cfg.Directory == nil {
		return k, err
	}
	if _, err := s.cfg.Directory.Workspace(ctx, k.Account, k.Workspace); err != nil {
		return Key{}, err
	}
	return k, nil
}

// isProgram reports whether the actor is the embedding program. A person who has
// signed in without a key has Management, or would administer nothing.
func isProgram(by router.Actor) bool { return by.Principal.KeyHash == "" && !by.Principal.Management }

// now returns the time of a change, in the microseconds that every store keeps.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
