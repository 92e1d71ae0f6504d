package guardrails

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// maxSubjects is how many keys or members one action may name.
const maxSubjects = 10_000

// maxSubject is the longest hash or user id, in bytes.
const maxSubject = 256

// Assign makes a guardrail cover keys or members of the account, in place of
// those that covered them, and returns for how many of them that is new. A
// subject that the account does not have is a [*systemone.InvalidError], and
// nothing happens then; so is a workspace's default guardrail, which covers
// its workspace.
func (s *Service) Assign(ctx context.Context, by router.Actor, id uuid.UUID, kind Kind, subjects []string) (int, error) {
	account := by.Principal.Account
	g, err := s.find(ctx, account, id)
	switch {
	case err != nil:
		return 0, fmt.Errorf("guardrails: assign: %w", err)
	case g.Default:
		return 0, invalid("id", "is a workspace's default guardrail, which cannot be assigned")
	}
	if err := checkSubjects(kind, subjects); err != nil {
		return 0, err
	}
	rows, err := s.rows(ctx, by, id, kind, subjects)
	if err != nil {
		return 0, err
	}
	change := s.change(by, "assign", id, nil, record{kind.member(): subjects})
	count, err := s.cfg.Store.Assign(ctx, rows, change)
	s.forget(account)
	if err != nil {
		return 0, fmt.Errorf("guardrails: assign: %w", err)
	}
	return count, nil
}

// rows makes an assignment for each subject, once.
func (s *Service) rows(ctx context.Context, by router.Actor, id uuid.UUID, kind Kind, subjects []string) ([]Assignment, error) {
	var (
		rows   = make([]Assignment, 0, len(subjects))
		issues []systemone.Issue
		now    = s.now()
		seen   = make(map[string]bool, len(subjects))
	)
	for i, subject := range subjects {
		if seen[subject] {
			continue
		}
		seen[subject] = true
		row := Assignment{Guardrail: id, Account: by.Principal.Account, Kind: kind, Subject: subject, By: by.Principal.Member, CreatedAt: now}
		ok, err := s.describe(ctx, &row)
		switch {
		case err != nil:
			return nil, fmt.Errorf("guardrails: assign: %w", err)
		case !ok:
			issues = append(issues, systemone.Issue{Path: kind.member() + "." + strconv.Itoa(i), Message: "is not in the account"})
		}
		row.ID = s.cfg.NewID()
		rows = append(rows, row)
	}
	if issues != nil {
		return nil, &systemone.InvalidError{Issues: issues}
	}
	return rows, nil
}

// describe gives a row the name and label that its key has now, and says
// whether the account has the key or member at all.
func (s *Service) describe(ctx context.Context, row *Assignment) (bool, error) {
	if row.Kind == MemberKind {
		return s.cfg.IsMember(ctx, row.Account, row.Subject)
	}
	name, label, ok, err := s.cfg.Key(ctx, row.Account, row.Subject)
	if ok && err == nil {
		row.Name, row.Label = name, label
	}
	return ok, err
}

// Unassign ends the cover of keys or members by a guardrail and returns how
// many there were. Those that it does not cover are passed over, and are in no
// record: their names may be anything.
func (s *Service) Unassign(ctx context.Context, by router.Actor, id uuid.UUID, kind Kind, subjects []string) (int, error) {
	if err := checkSubjects(kind, subjects); err != nil {
		return 0, err
	}
	if _, err := s.find(ctx, by.Principal.Account, id); err != nil {
		return 0, fmt.Errorf("guardrails: unassign: %w", err)
	}
	subjects, err := s.covered(ctx, by.Principal.Account, id, kind, subjects)
	if err != nil || len(subjects) == 0 {
		return 0, err
	}
	change := s.change(by, "unassign", id, record{kind.member(): subjects}, nil)
	count, err := s.cfg.Store.Unassign(ctx, by.Principal.Account, id, kind, subjects, change)
	s.forget(by.Principal.Account)
	if err != nil {
		return 0, fmt.Errorf("guardrails: unassign: %w", err)
	}
	return count, nil
}

// covered returns those of the subjects that a guardrail covers, once each.
func (s *Service) covered(ctx context.Context, account string, id uuid.UUID, kind Kind, subjects []string) ([]string, error) {
	rows, _, err := s.cfg.Store.Assignments(ctx, account, id, kind, 0, noLimit)
	if err != nil {
		return nil, fmt.Errorf("guardrails: unassign: %w", err)
	}
	named := make(map[string]bool, len(subjects))
	for _, subject := range subjects {
		named[subject] = true
	}
	var list []string
	for _, row := range rows {
		if named[row.Subject] {
			list = append(list, row.Subject)
		}
	}
	return list, nil
}

// Assignments returns at most limit assignments of a guardrail, or of all with
// uuid.Nil, after the first offset, the latest first, and how many there are in
// all. Names and labels are those of today. What there is no key, member or
// guardrail for any more is left out, which takes a look at each of them.
func (s *Service) Assignments(ctx context.Context, by router.Actor, id uuid.UUID, kind Kind, offset, limit int) ([]Assignment, int, error) {
	account := by.Principal.Account
	if id != uuid.Nil {
		if _, err := s.find(ctx, account, id); err != nil {
			return nil, 0, fmt.Errorf("guardrails: assignments: %w", err)
		}
	}
	all, _, err := s.cfg.Store.Assignments(ctx, account, id, kind, 0, noLimit)
	if err != nil {
		return nil, 0, fmt.Errorf("guardrails: assignments: %w", err)
	}
	rows, err := s.standing(ctx, all)
	if err != nil {
		return nil, 0, fmt.Errorf("guardrails: assignments: %w", err)
	}
	from := min(max(offset, 0), len(rows))
	return rows[from:min(from+max(limit, 0), len(rows))], len(rows), nil
}

// standing returns the rows whose guardrail and subject exist.
func (s *Service) standing(ctx context.Context, all []Assignment) ([]Assignment, error) {
	rows := make([]Assignment, 0, len(all))
	found := map[uuid.UUID]bool{}
	for _, row := range all {
		exists, known := found[row.Guardrail]
		if !known {
			_, err := s.find(ctx, row.Account, row.Guardrail)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			exists = err == nil
			found[row.Guardrail] = exists
		}
		if !exists {
			continue
		}
		switch ok, err := s.describe(ctx, &row); {
		case err != nil:
			return nil, err
		case ok:
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// member is the name of the kind's list in the interface.
func (k Kind) member() string {
	if k == MemberKind {
		return "member_user_ids"
	}
	return "key_hashes"
}

func checkSubjects(kind Kind, subjects []string) error {
	bad := func(s string) bool { return s == "" || len(s) > maxSubject || !router.Storable(s) }
	if len(subjects) == 0 || len(subjects) > maxSubjects || slices.ContainsFunc(subjects, bad) {
		return invalid(kind.member(), "must have 1 to "+strconv.Itoa(maxSubjects)+" entries of 1 to "+strconv.Itoa(maxSubject)+" bytes")
	}
	return nil
}
