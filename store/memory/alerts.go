package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router/hooks"
)

var _ hooks.AlertStore = (*alertStore)(nil)

// alertStore keeps alerts by their IDs.
type alertStore struct {
	mu   sync.Mutex
	byID map[string]*alert
}

type alert struct {
	hooks.Alert

	due  time.Time
	done bool
}

func newAlertStore() *alertStore { return &alertStore{byID: map[string]*alert{}} }

func (s *alertStore) Raise(ctx context.Context, a hooks.Alert) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[a.ID] == nil {
		a.Event = bytes.Clone(a.Event)
		s.byID[a.ID] = &alert{Alert: a, due: a.Raised}
	}
	return nil
}

func (s *alertStore) Take(ctx context.Context, _ uuid.UUID, now, until time.Time, limit int) ([]hooks.Alert, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []*alert
	for id, a := range s.byID {
		switch {
		case !a.Expires.IsZero() && !a.Expires.After(now):
			delete(s.byID, id)
		case !a.done && !a.due.After(now):
			due = append(due, a)
		}
	}
	slices.SortFunc(due, func(a, b *alert) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.ID, b.ID)) })
	taken := []hooks.Alert{}
	for _, a := range due[:max(min(limit, len(due)), 0)] {
		a.due = until
		copied := a.Alert
		copied.Event = bytes.Clone(a.Event)
		taken = append(taken, copied)
	}
	return taken, nil
}

func (s *alertStore) Done(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.byID[id]; a != nil {
		a.done = true
	}
	return nil
}
