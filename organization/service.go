package organization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Balancer reads what was spent. Every [router.Ledger] is one.
type Balancer interface {
	Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error)
}

// Config sets up a [Service]. Write it with field names: fields are added in
// minor versions.
type Config struct {
	Store  Store      // required
	Audit  AuditStore // nil: Changes returns none
	Ledger Balancer   // the router's, to show what was charged; nil shows 0
	// KeysIn counts a workspace's keys. A workspace with keys cannot be deleted.
	// Nil: workspaces have no keys.
	KeysIn func(ctx context.Context, account, workspace string) (int, error)
	// KeysOf counts the keys that a member created in a workspace, or in the whole
	// account when workspace is "". A member who has created keys cannot be removed.
	// Nil: members have no keys.
	KeysOf func(ctx context.Context, account, workspace, member string) (int, error)
	// Deleted removes what other parts of the program keep for a workspace of the
	// actor's account that has just been deleted. It is called again when the
	// deletion is repeated, to remove what a failure has left. Nil: other parts keep
	// nothing.
	Deleted func(ctx context.Context, by router.Actor, workspace string) error
	// NewID makes the ids of accounts, workspaces and budgets. By default they are
	// UUIDs of version 7, which sort in the order of their creation, so lists show
	// objects of one instant in that order.
	NewID func() uuid.UUID
	Now   func() time.Time // default time.Now
}

// Service administers accounts and puts their rules on calls. It is safe for
// concurrent use.
//
// Methods that change something take the actor who does it, and act on the account
// by.Principal.Account. The caller must check that the actor may do it.
type Service struct {
	cfg   Config
	cache *cache.Cache[place, *standing]
}

// New checks cfg and fills in its defaults. A mistake is ErrConfig.
func New(cfg Config) (*Service, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.Store == nil {
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	}
	if cfg.KeysIn == nil {
		cfg.KeysIn = func(context.Context, string, string) (int, error) { return 0, nil }
	}
	if cfg.KeysOf == nil {
		cfg.KeysOf = func(context.Context, string, string, string) (int, error) { return 0, nil }
	}
	if cfg.Deleted == nil {
		cfg.Deleted = func(context.Context, router.Actor, string) error { return nil }
	}
	if cfg.NewID == nil {
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg}
	s.cache = s.newCache()
	return s, nil
}

// Changes returns limit of an account's audit records from offset on, newest
// first, and how many there are in all.
func (s *Service) Changes(ctx context.Context, account string, offset, limit int) ([]router.Change, int, error) {
	if s.cfg.Audit == nil {
		return []router.Change{}, 0, nil
	}
	return s.cfg.Audit.Changes(ctx, account, offset, limit)
}

// now returns the time of a change, in the microseconds that every store keeps.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

func (s *Service) newID() string { return s.cfg.NewID().String() }

// change returns the record of an action of by. before is nil for a new object, after
// for a deleted one.
func (s *Service) change(by router.Actor, action, kind, object string, before, after any) (router.Change, error) {
	c := router.Change{
		ID: s.cfg.NewID(), At: s.now(), Actor: by, Action: action, Kind: kind, Object: object, Account: by.Principal.Account,
	}
	for _, side := range []struct {
		from any
		to   *json.RawMessage
	}{{before, &c.Before}, {after, &c.After}} {
		if side.from == nil {
			continue
		}
		text, err := json.Marshal(side.from)
		if err != nil {
			return router.Change{}, fmt.Errorf("organization: record a change: %w", err)
		}
		*side.to = text
	}
	return c, nil
}

// attempts bounds how often a change that met ErrConflict is made again, each time
// from the object as it is stored by then.
const attempts = 32

// retry makes a change until no concurrent change conflicts with it.
func retry(change func() error) error {
	err := ErrConflict
	for n := 0; n < attempts && errors.Is(err, ErrConflict); n++ {
		err = change()
	}
	return err
}

// issues collects the mistakes in given values.
type issues []systemone.Issue

func (list *issues) add(path, format string, args ...any) {
	*list = append(*list, systemone.Issue{Path: path, Message: fmt.Sprintf(format, args...)})
}

// storable adds a mistake for a text that some store cannot keep.
func (list *issues) storable(path, text string) {
	if !router.Storable(text) {
		list.add(path, "must be UTF-8 without U+0000")
	}
}

// refuse returns the error for the mistakes in a list, or nil if it is empty.
func refuse(list issues) error {
	if len(list) == 0 {
		return nil
	}
	return &systemone.InvalidError{Issues: list}
}

// invalid returns the error for a single mistake.
func invalid(path, format string, args ...any) error {
	var list issues
	list.add(path, format, args...)
	return refuse(list)
}
