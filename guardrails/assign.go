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

// maxSubjects is how many keys or members one call of Assign or Unassign may name.
const maxSubjects = 10_000

// maxSubject is the maximum length of a key hash or user id, in bytes.
const maxSubject = 256

// Assign assigns a guardrail to keys or members of the account and returns how many
// assignments are new. It replaces the earlier assignment of each subject.
//
// A subject that the account does not have is reported as a [*systemone.InvalidError],
// and no assignment is made. So is the default guardrail of a workspace, because it
// covers its workspace already. A guardrail that does not exist is [ErrNotFound].
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

// rows builds one assignment for each subject, without duplicates.
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

// describe sets the row's name and label from its key. It reports whether the account has
// the row's key or member.
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

// Unassign removes the assignments of a guardrail to keys or members and returns how many
// there were. Subjects that the guardrail is not assigned to are ignored. They do not
// appear in the audit record either, because they are unchecked text. A guardrail that
// does not exist is [ErrNotFound].
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

// covered returns the subjects that the guardrail is assigned to, without duplicates.
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

// Assignments returns at most limit assignments of a guardrail, latest first, after
// skipping offset. It also returns the total number. With uuid.Nil it lists those of all
// guardrails of the account.
//
// Names and labels are the current ones of the keys. Assignments whose key, member or
// guardrail no longer exists are left out and not counted. This costs one lookup for each
// assignment and each guardrail.
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

// member is the JSON name of the list of such subjects in the HTTP interface.
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
