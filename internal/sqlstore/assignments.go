package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/router"
)

// The stored names of the kinds of assignments.
const (
	keyWord       = "key"
	memberWord    = "member"
	workspaceWord = "workspace" // of a workspace's default guardrail
)

func kindWord(kind guardrails.Kind) string {
	if kind == guardrails.MemberKind {
		return memberWord
	}
	return keyWord
}

// Assign implements [guardrails.Store]. It locks the guardrail against deletion first,
// then the subjects in sorted order.
func (s *Guardrails) Assign(ctx context.Context, rows []guardrails.Assignment, c router.Change) (changed int, err error) {
	if len(rows) == 0 {
		return 0, ctx.Err()
	}
	rows = slices.SortedFunc(slices.Values(rows), func(a, b guardrails.Assignment) int {
		return cmp.Or(cmp.Compare(kindWord(a.Kind), kindWord(b.Kind)), cmp.Compare(a.Subject, b.Subject))
	})
	err = change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		if err := keepGuardrail(ctx, tx, rows[0].Account, rows[0].Guardrail); err != nil {
			return false, err
		}
		changed = 0
		for part := range portions(rows) {
			n, err := assign(ctx, tx, part)
			if err != nil {
				return false, err
			}
			changed += int(n)
		}
		if changed == 0 {
			return false, nil
		}
		lines := make([]router.Line, len(rows))
		for i, r := range rows {
			lines[i] = coveredLine(r.Account, kindWord(r.Kind), r.Subject)
		}
		return true, sqlledger.RaiseGuards(ctx, s.db, tx, lines)
	})
	return changed, err
}

// assign stores rows and returns how many of them were new or different.
func assign(ctx context.Context, tx sqldb.Tx, rows []guardrails.Assignment) (int64, error) {
	const columns = 9
	args := make([]any, 0, columns*len(rows))
	for _, r := range rows {
		args = append(args, r.Account, kindWord(r.Kind), r.Subject, r.Guardrail.String(), r.ID.String(),
			r.Name, r.Label, r.By, sqldb.Micros(r.CreatedAt))
	}
	return tx.Exec(ctx, `
		INSERT INTO {guardrail_assignments} AS a (account, kind, subject, guardrail, id, name, label, assigner, created_at)
		VALUES `+tuples(1, len(rows), columns)+`
		ON CONFLICT (account, kind, subject) DO UPDATE SET guardrail = excluded.guardrail, id = excluded.id,
			name = excluded.name, label = excluded.label, assigner = excluded.assigner, created_at = excluded.created_at
		WHERE a.guardrail <> excluded.guardrail`, args...)
}

// Unassign implements [guardrails.Store].
func (s *Guardrails) Unassign(ctx context.Context, account string, id uuid.UUID, kind guardrails.Kind, subjects []string, c router.Change) (removed int, err error) {
	subjects = slices.Compact(slices.Sorted(slices.Values(subjects)))
	err = change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		if err := keepGuardrail(ctx, tx, account, id); err != nil {
			return false, err
		}
		removed = 0
		for part := range portions(subjects) {
			n, err := unassign(ctx, tx, account, id, kind, part)
			if err != nil {
				return false, err
			}
			removed += int(n)
		}
		if removed == 0 {
			return false, nil
		}
		lines := make([]router.Line, len(subjects))
		for i, subject := range subjects {
			lines[i] = coveredLine(account, kindWord(kind), subject)
		}
		return true, sqlledger.RaiseGuards(ctx, s.db, tx, lines)
	})
	return removed, err
}

// unassign removes rows of a guardrail, which it locks in order.
func unassign(ctx context.Context, tx sqldb.Tx, account string, id uuid.UUID, kind guardrails.Kind, subjects []string) (int64, error) {
	args := []any{account, id.String(), kindWord(kind)}
	for _, subject := range subjects {
		args = append(args, subject)
	}
	of := ` FROM {guardrail_assignments} WHERE account = $1 AND guardrail = $2 AND kind = $3
		AND subject IN ` + tuples(4, 1, len(subjects))
	if _, err := sqldb.List(ctx, tx, sqldb.ScanText, `SELECT subject`+of+` ORDER BY subject FOR UPDATE`, args...); err != nil {
		return 0, err
	}
	return tx.Exec(ctx, `DELETE`+of, args...)
}

// Assignments implements [guardrails.Store].
func (s *Guardrails) Assignments(ctx context.Context, account string, id uuid.UUID, kind guardrails.Kind, offset, limit int) (found []guardrails.Assignment, total int, err error) {
	of := `guardrail = $3`
	if id == uuid.Nil {
		of = `CAST($3 AS text) <> ''`
	}
	of = ` FROM {guardrail_assignments} WHERE account = $1 AND kind = $2 AND ` + of
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if id != uuid.Nil {
			if err := findGuardrail(ctx, tx, account, id); err != nil {
				return err
			}
		}
		if total, err = sqldb.Count(ctx, tx, `SELECT count(*)`+of, account, kindWord(kind), id.String()); err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanAssignment, `
			SELECT account, kind, subject, guardrail, id, name, label, assigner, created_at`+of+`
			ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`,
			account, kindWord(kind), id.String(), max(limit, 0), max(offset, 0))
		return err
	})
	return found, total, err
}

func scanAssignment(rows sqldb.Rows) (a guardrails.Assignment, err error) {
	var kind, guardrail, id string
	var created int64
	if err = rows.Scan(&a.Account, &kind, &a.Subject, &guardrail, &id, &a.Name, &a.Label, &a.By, &created); err != nil {
		return a, err
	}
	if kind == memberWord {
		a.Kind = guardrails.MemberKind
	}
	a.CreatedAt = sqldb.Instant(created)
	if a.ID, err = uuid.Parse(id); err != nil {
		return a, err
	}
	a.Guardrail, err = uuid.Parse(guardrail)
	return a, err
}
