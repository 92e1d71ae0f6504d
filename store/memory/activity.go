package memory

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// activityDays is how many days with events are kept.
const activityDays = 35

var _ activity.Store = (*activityStore)(nil)

// activityStore keeps sums only: of all, of each key and of each member, so
// that no query has to add up what it did not ask for.
type activityStore struct {
	mu   sync.RWMutex
	days map[string]*activityDay
}

type activityDay struct {
	seen map[string]struct{} // ids of events
	sums map[activityScope]map[activityCell]*activity.Item
}

// activityScope says whose use a sum is: the account's, one key's or one
// member's.
type activityScope struct {
	account, key, member string
}

type activityCell struct {
	model, permaslug, provider, workspace string
	endpoint                              uuid.UUID
}

func newActivityStore() *activityStore { return &activityStore{days: map[string]*activityDay{}} }

func (s *activityStore) Record(ctx context.Context, events []router.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.add(events...)
	return nil
}

// add records events; it cannot fail.
func (s *activityStore) add(events ...router.Event) {
	if len(events) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range events {
		s.record(&events[i])
	}
}

// settle counts a hold's cost in the book and records events of it, and what
// takes back its posted one where it corrects that, as one for whoever looks.
func (s *activityStore) settle(b *book, h *hold, cost router.Amount, corrects bool, events []router.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.settle(h, cost)
	if corrects {
		e := h.event.Posted(h.amount).Corrected()
		s.record(&e)
	}
	for i := range events {
		s.record(&events[i])
	}
}

func (s *activityStore) record(e *router.Event) {
	item := activity.ItemOf(*e)
	day, ok := s.days[item.Date]
	if !ok {
		day = &activityDay{seen: map[string]struct{}{}, sums: map[activityScope]map[activityCell]*activity.Item{}}
		s.days[item.Date] = day
		s.forget()
	}
	if _, twice := day.seen[e.ID]; twice {
		return
	}
	day.seen[e.ID] = struct{}{}
	p := e.Principal
	day.add(activityScope{account: p.Account}, item)
	if p.KeyHash != "" {
		day.add(activityScope{account: p.Account, key: p.KeyHash}, item)
	}
	if p.Member != "" {
		day.add(activityScope{account: p.Account, member: p.Member}, item)
	}
	if p.KeyHash != "" && p.Member != "" {
		day.add(activityScope{account: p.Account, key: p.KeyHash, member: p.Member}, item)
	}
}

// forget drops the oldest day when there are too many.
func (s *activityStore) forget() {
	if len(s.days) <= activityDays {
		return
	}
	oldest := ""
	for date := range s.days {
		if oldest == "" || date < oldest {
			oldest = date
		}
	}
	delete(s.days, oldest)
}

func (d *activityDay) add(scope activityScope, item activity.Item) {
	cells, ok := d.sums[scope]
	if !ok {
		cells = map[activityCell]*activity.Item{}
		d.sums[scope] = cells
	}
	cell := activityCell{item.Model, item.Permaslug, item.Provider, item.Workspace, item.Endpoint}
	if sum, ok := cells[cell]; ok {
		sum.Add(item)
		return
	}
	cells[cell] = &item
}

func (s *activityStore) Items(ctx context.Context, r activity.Range) ([]activity.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var items []activity.Item
	for date, day := range s.days {
		if date < r.From || date > r.To {
			continue
		}
		for _, sum := range day.sums[activityScope{account: r.Account, key: r.KeyHash, member: r.Member}] {
			items = append(items, *sum)
		}
	}
	return items, nil
}
