package memory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// activityDays is the number of days with events that are kept.
const activityDays = 35

var _ activity.Store = (*activityStore)(nil)

// activityStore keeps sums, not events: of an account, of each key and of each member, so
// that a query adds up only what it returns.
type activityStore struct {
	mu   sync.RWMutex
	days map[int64]*activityDay // by day number
}

type activityDay struct {
	date  string
	seen  map[string]struct{} // ids of events
	cells map[activityCell]*activityCell
	sums  map[activityScope]activitySums
	// adds holds, for each scope, the sums that an event of the scope's principal
	// adds to.
	adds map[activityScope][]activitySums
}

// activityScope is whose use a sum counts: an account's, a key's or a member's.
type activityScope struct {
	account, key, member string
}

// activityCell is what was used, in which workspace and for which reason. Sums refer to it by pointer,
// because it is large.
type activityCell struct {
	model, permaslug, provider, workspace string
	reason                                router.LegReason
	endpoint                              uuid.UUID
}

type activitySums map[*activityCell]*activity.Item

func newActivityStore() *activityStore { return &activityStore{days: map[int64]*activityDay{}} }

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

// settle counts a hold's cost in the book and records its events. If corrects is set, it
// also takes back the event that expiry recorded. Readers see all of it or nothing.
func (s *activityStore) settle(b *book, h *hold, cost router.Amount, corrects bool, events []router.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.settle(h, cost)
	if corrects {
		s.correct(h)
	}
	for i := range events {
		s.record(&events[i])
	}
}

// takeBack undoes what expiry charged and recorded for a hold. Readers see both or
// nothing.
func (s *activityStore) takeBack(b *book, h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.takeBack(h)
	if h.event.ID != "" {
		s.correct(h)
	}
}

// correct records the event that takes back the one that expiry recorded.
func (s *activityStore) correct(h *hold) {
	e := h.event.Posted(h.amount).Corrected()
	s.record(&e)
}

func (s *activityStore) record(e *router.Event) {
	number := dayNumber(e.Admitted)
	day, ok := s.days[number]
	if !ok {
		day = &activityDay{
			date: router.Daily.Window(e.Admitted),
			seen: map[string]struct{}{}, cells: map[activityCell]*activityCell{},
			sums: map[activityScope]activitySums{}, adds: map[activityScope][]activitySums{},
		}
		s.days[number] = day
		s.forget()
	}
	had := len(day.seen)
	if day.seen[e.ID] = struct{}{}; len(day.seen) == had { // recorded before
		return
	}
	cell := day.cell(e)
	for _, sums := range day.of(&e.Principal) {
		sums.add(cell, e)
	}
}

// dayNumber returns the number of days from 1970 to the UTC day of t.
func dayNumber(t time.Time) int64 {
	const seconds = 24 * 60 * 60
	day := t.Unix() / seconds
	if t.Unix()%seconds < 0 {
		day--
	}
	return day
}

// forget drops the oldest day when there are more than activityDays.
func (s *activityStore) forget() {
	if len(s.days) > activityDays {
		delete(s.days, slices.Min(slices.Collect(maps.Keys(s.days))))
	}
}

func (d *activityDay) cell(e *router.Event) *activityCell {
	of := activityCell{e.Model, e.Permaslug, e.Provider, e.Principal.Workspace, e.Reason, e.Endpoint}
	cell, ok := d.cells[of]
	if !ok {
		cell = new(of)
		d.cells[of] = cell
	}
	return cell
}

// of returns the sums that an event of a principal adds to: those of the account, of its
// key, of its member, and of key and member together.
func (d *activityDay) of(p *router.Principal) []activitySums {
	whole := activityScope{account: p.Account, key: p.KeyHash, member: p.Member}
	list, ok := d.adds[whole]
	if ok {
		return list
	}
	scopes := []activityScope{
		{account: p.Account}, {account: p.Account, key: p.KeyHash}, {account: p.Account, member: p.Member}, whole,
	}
	for i, scope := range scopes {
		if slices.Contains(scopes[:i], scope) { // the principal has no key or no member
			continue
		}
		sums, ok := d.sums[scope]
		if !ok {
			sums = activitySums{}
			d.sums[scope] = sums
		}
		list = append(list, sums)
	}
	d.adds[whole] = list
	return list
}

func (s activitySums) add(cell *activityCell, e *router.Event) {
	if sum, ok := s[cell]; ok {
		sum.AddEvent(e)
		return
	}
	s[cell] = new(activity.ItemOf(*e))
}

func (s *activityStore) Items(ctx context.Context, r activity.Range) ([]activity.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var items []activity.Item
	for _, day := range s.days {
		if day.date < r.From || day.date > r.To {
			continue
		}
		for _, sum := range day.sums[activityScope{account: r.Account, key: r.KeyHash, member: r.Member}] {
			items = append(items, *sum)
		}
	}
	return items, nil
}
