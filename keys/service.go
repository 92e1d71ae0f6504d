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

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// Balancer reads the books of spending; every [router.Ledger] is one.
type Balancer interface {
	Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error)
}

// Membership is what a user is to an account.
type Membership struct {
	Organization bool // the account is one; else it is personal
	Member       bool // the user belongs to the account
	Admin        bool // and administers it
}

// Directory knows accounts: their members and their workspaces.
type Directory interface {
	// Membership returns what a user is to an account. Of an account that it
	// does not know it returns the zero Membership.
	Membership(ctx context.Context, account, user string) (Membership, error)
	// Workspace returns the id of a workspace of an account, that of the
	// account's default workspace when id is "", or ErrNotFound.
	Workspace(ctx context.Context, account, id string) (string, error)
}

// Config sets up a [Service]. Write it with field names: fields are added in
// minor versions.
type Config struct {
	Store  Store    // required
	Ledger Balancer // the router's, to show what keys have spent; nil shows 0, and limits hold all the same
	// Directory is asked before a key is made or listed, and whether the
	// workspace of one that is read still exists: without it there is no such
	// key. Nil: there are neither organizations nor workspaces.
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
// Methods that change something take who does it. An actor with neither a key nor
// Management is the embedding program; whose keys are meant is always
// by.Principal.Account. Whether the actor may manage anything is for the caller to
// know.
type Service struct {
	cfg   Config
	cache *cache
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
	since := time.Since // reads less of the clock than time.Now does
	if now := cfg.Now; now != nil {
		since = func(t time.Time) time.Duration { return now().Sub(t) }
	} else {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = uuid.New
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	s := &Service{cfg: cfg, rates: newLimiter(cfg.Rates)}
	begun := cfg.Now()
	s.cache = newCache(s.find, s.limits, func() time.Duration { return since(begun) })
	return s, nil
}

// find returns a key of whatever account, or ErrNotFound. A workspace that is
// deleted takes its keys with it, whatever the store still holds: one may have
// been made just when nobody counted any more.
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

// isProgram says whether the actor is the embedding program. A person who has
// signed in without a key has Management, or would administer nothing.
func isProgram(by router.Actor) bool { return by.Principal.KeyHash == "" && !by.Principal.Management }

// now is the time of a change, as coarse as the coarsest store keeps it.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
