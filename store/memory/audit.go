package memory

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

var _ organization.AuditStore = (*auditStore)(nil)

// auditStore is the list of changes of a set. Each store appends to it while it holds its
// own lock.
type auditStore struct {
	mu        sync.RWMutex
	byAccount map[string][]router.Change // oldest first
}

func newAuditStore() *auditStore {
	return &auditStore{byAccount: map[string][]router.Change{}}
}

// record appends c.
func (s *auditStore) record(c router.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byAccount[c.Account] = append(s.byAccount[c.Account], copyChange(c))
}

func (s *auditStore) Changes(ctx context.Context, account string, offset, limit int) ([]router.Change, int, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := s.byAccount[account]
	list := []router.Change{}
	for i := len(all) - 1 - offset; i >= 0 && len(list) < limit; i-- {
		list = append(list, copyChange(all[i]))
	}
	return slices.Clip(list), len(all), nil
}

func copyChange(c router.Change) router.Change {
	c.Before, c.After = bytes.Clone(c.Before), bytes.Clone(c.After)
	return c
}
