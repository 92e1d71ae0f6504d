package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
)

var _ guardrails.Store = (*guardrailStore)(nil)

// guardrailStore returns its guardrails without copying: their slices are never changed in
// place, and copyGuardrail separates them from the caller's.
type guardrailStore struct {
	mu        sync.RWMutex
	byAccount map[string]*accountGuardrails
	record    func(router.Change)
	book      *book // keeps the versions of limits
}

// accountGuardrails are the guardrails of one account.
type accountGuardrails struct {
	byID     map[uuid.UUID]guardrails.Guardrail
	defaults map[string]uuid.UUID // by workspace
	assigned map[subject]guardrails.Assignment
}

type subject struct {
	kind guardrails.Kind
	id   string
}

func newGuardrailStore(record func(router.Change), b *book) *guardrailStore {
	return &guardrailStore{byAccount: map[string]*accountGuardrails{}, record: record, book: b}
}

// raise raises the guardrail versions of subjects.
func (s *guardrailStore) raise(account string, subjects ...subject) {
	for _, of := range subjects {
		line := router.OwnerKey.Line(router.Principal{KeyHash: of.id}, ever)
		if of.kind == guardrails.MemberKind {
			line = router.OwnerMember.Line(router.Principal{Account: account, Member: of.id}, ever)
		}
		s.raiseLine(line)
	}
}

func (s *guardrailStore) raiseLine(line router.Line) {
	if line != (router.Line{}) {
		s.book.outdate(router.Version{Line: line, Cover: true, N: 1 + s.book.version(line, true)})
	}
}

// raiseAll raises the guardrail versions of everything that a guardrail covers.
func (s *guardrailStore) raiseAll(a *accountGuardrails, g *guardrails.Guardrail) {
	if g.Default {
		s.raiseLine(router.OwnerWorkspace.Line(router.Principal{Workspace: g.Workspace}, ever))
	}
	for sub, row := range a.assigned {
		if row.Guardrail == g.ID {
			s.raise(g.Account, sub)
		}
	}
}

func (s *guardrailStore) Create(ctx context.Context, g guardrails.Guardrail, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.byAccount {
		if _, taken := a.byID[g.ID]; taken {
			return guardrails.ErrExists
		}
	}
	a := s.byAccount[g.Account]
	if a == nil {
		a = &accountGuardrails{
			byID:     map[uuid.UUID]guardrails.Guardrail{},
			defaults: map[string]uuid.UUID{},
			assigned: map[subject]guardrails.Assignment{},
		}
	}
	if g.Default {
		if _, taken := a.defaults[g.Workspace]; taken {
			return guardrails.ErrExists
		}
		a.defaults[g.Workspace] = g.ID
	}
	s.byAccount[g.Account] = a
	a.byID[g.ID] = copyGuardrail(g)
	s.raiseAll(a, &g)
	s.record(change)
	return nil
}

func (s *guardrailStore) Get(ctx context.Context, account string, id uuid.UUID) (guardrails.Guardrail, error) {
	if err := ctx.Err(); err != nil {
		return guardrails.Guardrail{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, g, err := s.find(account, id)
	return copyGuardrail(g), err
}

// find returns a guardrail, not copied, and its account.
func (s *guardrailStore) find(account string, id uuid.UUID) (*accountGuardrails, guardrails.Guardrail, error) {
	a := s.byAccount[account]
	if a == nil {
		return nil, guardrails.Guardrail{}, guardrails.ErrNotFound
	}
	g, ok := a.byID[id]
	if !ok {
		return nil, guardrails.Guardrail{}, guardrails.ErrNotFound
	}
	return a, g, nil
}

func (s *guardrailStore) List(ctx context.Context, account, workspace string, offset, limit int) ([]guardrails.Guardrail, int, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := []guardrails.Guardrail{}
	if a := s.byAccount[account]; a != nil {
		for _, g := range a.byID {
			if g.Workspace == workspace {
				list = append(list, copyGuardrail(g))
			}
		}
	}
	slices.SortFunc(list, func(a, b guardrails.Guardrail) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), bytes.Compare(b.ID[:], a.ID[:]))
	})
	return section(list, offset, limit), len(list), nil
}

// section returns at most limit entries of list from offset on.
func section[T any](list []T, offset, limit int) []T {
	from := min(offset, len(list))
	return list[from:min(from+limit, len(list))]
}

func (s *guardrailStore) Replace(ctx context.Context, g guardrails.Guardrail, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, have, err := s.find(g.Account, g.ID)
	switch {
	case err != nil:
		return err
	case have.Revision != g.Revision-1:
		return guardrails.ErrConflict
	}
	a.byID[g.ID] = copyGuardrail(g)
	s.raiseAll(a, &g)
	s.record(change)
	return nil
}

func (s *guardrailStore) Delete(ctx context.Context, account string, id uuid.UUID, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, g, err := s.find(account, id)
	if err != nil {
		return err
	}
	s.raiseAll(a, &g)
	for sub, row := range a.assigned {
		if row.Guardrail == id {
			delete(a.assigned, sub)
		}
	}
	if g.Default {
		delete(a.defaults, g.Workspace)
	}
	delete(a.byID, id)
	s.record(change)
	return nil
}

func (s *guardrailStore) Assign(ctx context.Context, rows []guardrails.Assignment, change router.Change) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(rows) == 0 {
		return 0, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, _, err := s.find(rows[0].Account, rows[0].Guardrail)
	if err != nil {
		return 0, err
	}
	changed := 0
	for _, row := range rows {
		sub := subject{row.Kind, row.Subject}
		if a.assigned[sub].Guardrail != row.Guardrail {
			a.assigned[sub] = row
			s.raise(row.Account, sub)
			changed++
		}
	}
	if changed > 0 {
		s.record(change)
	}
	return changed, nil
}

func (s *guardrailStore) Unassign(ctx context.Context, account string, id uuid.UUID, kind guardrails.Kind, subjects []string, change router.Change) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, _, err := s.find(account, id)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, name := range subjects {
		sub := subject{kind, name}
		if a.assigned[sub].Guardrail == id {
			delete(a.assigned, sub)
			s.raise(account, sub)
			removed++
		}
	}
	if removed > 0 {
		s.record(change)
	}
	return removed, nil
}

func (s *guardrailStore) Assignments(ctx context.Context, account string, id uuid.UUID, kind guardrails.Kind, offset, limit int) ([]guardrails.Assignment, int, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id != uuid.Nil {
		if _, _, err := s.find(account, id); err != nil {
			return nil, 0, err
		}
	}
	list := []guardrails.Assignment{}
	if a := s.byAccount[account]; a != nil {
		for _, row := range a.assigned {
			if row.Kind == kind && (id == uuid.Nil || row.Guardrail == id) {
				list = append(list, row)
			}
		}
	}
	slices.SortFunc(list, func(a, b guardrails.Assignment) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), bytes.Compare(b.ID[:], a.ID[:]))
	})
	return section(list, offset, limit), len(list), nil
}

func (s *guardrailStore) Applied(ctx context.Context, p router.Principal) (guardrails.Applied, error) {
	if err := ctx.Err(); err != nil {
		return guardrails.Applied{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	applied := guardrails.Applied{Versions: s.versions(p)}
	a := s.byAccount[p.Account]
	if a == nil {
		return applied, nil
	}
	one := func(name string, id uuid.UUID) *guardrails.Guardrail {
		if g, ok := a.byID[id]; ok && name != "" {
			return new(copyGuardrail(g))
		}
		return nil
	}
	applied.Workspace = one(p.Workspace, a.defaults[p.Workspace])
	applied.Member = one(p.Member, a.assigned[subject{guardrails.MemberKind, p.Member}].Guardrail)
	applied.Key = one(p.KeyHash, a.assigned[subject{guardrails.KeyKind, p.KeyHash}].Guardrail)
	return applied, nil
}

// versions returns the guardrail versions of p.
func (s *guardrailStore) versions(p router.Principal) []router.Version {
	var list []router.Version
	for _, o := range []router.Owner{router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		if line := o.Line(p, ever); line != (router.Line{}) {
			n := s.book.version(line, true)
			list = append(list, router.Version{Line: line, Cover: true, N: n})
		}
	}
	return list
}

// copyGuardrail returns g with copied slices. What its pointers refer to is never written.
func copyGuardrail(g guardrails.Guardrail) guardrails.Guardrail {
	for _, list := range []*[]string{&g.AllowedModels, &g.IgnoredModels, &g.AllowedProviders, &g.IgnoredProviders} {
		*list = slices.Clone(*list)
	}
	g.Builtins, g.Filters = slices.Clone(g.Builtins), slices.Clone(g.Filters)
	return g
}
