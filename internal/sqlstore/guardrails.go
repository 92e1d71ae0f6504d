package sqlstore

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
)

var _ guardrails.Store = (*Guardrails)(nil)

// Guardrails keeps guardrails and what they are assigned to.
type Guardrails struct{ db DB }

// NewGuardrails returns the guardrails in db.
func NewGuardrails(db DB) *Guardrails { return &Guardrails{db: db} }

const guardrailColumns = `g.id, g.account, g.workspace, g.is_default, g.name, g.settings, g.created_at, g.updated_at, g.revision`

// Create implements [guardrails.Store].
func (s *Guardrails) Create(ctx context.Context, g guardrails.Guardrail, c router.Change) error {
	settings, err := encodeGuardrail(&g)
	if err != nil {
		return err
	}
	return change(ctx, s.db, c, func(tx Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			INSERT INTO {guardrails} (id, account, workspace, is_default, name, settings, created_at, updated_at, revision)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT DO NOTHING`, // of the id, or of a workspace's default
			g.ID.String(), g.Account, g.Workspace, g.Default, g.Name, settings, micros(g.CreatedAt), micros(g.UpdatedAt), g.Revision)
		if err == nil && n == 0 {
			err = guardrails.ErrExists
		}
		if err != nil || !g.Default {
			return true, err
		}
		return true, outdateGuards(ctx, s.db, tx, []router.Line{workspaceLine(g.Workspace)})
	})
}

// Get implements [guardrails.Store].
func (s *Guardrails) Get(ctx context.Context, account string, id uuid.UUID) (g guardrails.Guardrail, err error) {
	err = s.db.ReadOne(ctx, func(tx Tx) error {
		g, err = one(ctx, tx, guardrails.ErrNotFound, scanGuardrail,
			`SELECT `+guardrailColumns+` FROM {guardrails} g WHERE g.account = $1 AND g.id = $2`, account, id.String())
		return err
	})
	return g, err
}

func scanGuardrail(rows Rows) (guardrails.Guardrail, error) { return scanGuardrailAfter(rows) }

// scanGuardrailAfter scans what stands before guardrailColumns, and them.
func scanGuardrailAfter(rows Rows, dest ...any) (g guardrails.Guardrail, err error) {
	var id, settings string
	var created, updated int64
	if err = rows.Scan(append(dest,
		&id, &g.Account, &g.Workspace, &g.Default, &g.Name, &settings, &created, &updated, &g.Revision)...); err != nil {
		return g, err
	}
	g.CreatedAt, g.UpdatedAt = instant(created), instant(updated)
	if g.ID, err = parsed(id); err != nil {
		return g, err
	}
	err = decodeGuardrail(settings, &g)
	return g, err
}

// List implements [guardrails.Store].
func (s *Guardrails) List(ctx context.Context, account, workspace string, offset, limit int) (found []guardrails.Guardrail, total int, err error) {
	err = s.db.Read(ctx, func(tx Tx) error {
		total, err = count(ctx, tx, `SELECT count(*) FROM {guardrails} WHERE account = $1 AND workspace = $2`, account, workspace)
		if err != nil {
			return err
		}
		found, err = list(ctx, tx, scanGuardrail, `
			SELECT `+guardrailColumns+` FROM {guardrails} g WHERE g.account = $1 AND g.workspace = $2
			ORDER BY g.created_at DESC, g.id DESC LIMIT $3 OFFSET $4`, account, workspace, max(limit, 0), max(offset, 0))
		return err
	})
	return found, total, err
}

// Replace implements [guardrails.Store].
func (s *Guardrails) Replace(ctx context.Context, g guardrails.Guardrail, c router.Change) error {
	settings, err := encodeGuardrail(&g)
	if err != nil {
		return err
	}
	return change(ctx, s.db, c, func(tx Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			UPDATE {guardrails} SET name = $3, settings = $4, created_at = $5, updated_at = $6, revision = $7
			WHERE account = $1 AND id = $2 AND revision = $8`,
			g.Account, g.ID.String(), g.Name, settings, micros(g.CreatedAt), micros(g.UpdatedAt), g.Revision, g.Revision-1)
		switch {
		case err != nil:
			return false, err
		case n > 0:
			return true, s.uncover(ctx, tx, g.Account, g.ID)
		}
		if err := findGuardrail(ctx, tx, g.Account, g.ID); err != nil {
			return false, err
		}
		return false, guardrails.ErrConflict
	})
}

// uncover raises the guardrail versions of everything that a guardrail covers. It
// locks the rows of the keys and members that are assigned to it.
func (s *Guardrails) uncover(ctx context.Context, tx Tx, account string, id uuid.UUID) error {
	lines, err := list(ctx, tx, func(rows Rows) (line router.Line, err error) {
		var kind, name string
		err = rows.Scan(&kind, &name)
		return coveredLine(account, kind, name), err
	}, `SELECT kind, subject FROM {guardrail_assignments} WHERE account = $1 AND guardrail = $2
		ORDER BY kind, subject FOR UPDATE`, account, id.String())
	if err != nil {
		return err
	}
	home, err := list(ctx, tx, scanText,
		`SELECT workspace FROM {guardrails} WHERE account = $1 AND id = $2 AND is_default`, account, id.String())
	if err != nil {
		return err
	}
	for _, workspace := range home {
		lines = append(lines, workspaceLine(workspace))
	}
	return outdateGuards(ctx, s.db, tx, lines)
}

// coveredLine is that of a key or a member.
func coveredLine(account, kind, name string) router.Line {
	if kind == memberWord {
		return router.OwnerMember.Line(router.Principal{Account: account, Member: name}, ever)
	}
	return router.OwnerKey.Line(router.Principal{KeyHash: name}, ever)
}

// findGuardrail returns ErrNotFound where there is no such guardrail.
func findGuardrail(ctx context.Context, tx Tx, account string, id uuid.UUID) error {
	_, err := one(ctx, tx, guardrails.ErrNotFound, scanInt,
		`SELECT revision FROM {guardrails} WHERE account = $1 AND id = $2`, account, id.String())
	return err
}

// keepGuardrail is findGuardrail that keeps it as it is until the transaction
// ends. A lock would not do: whoever waits for one goes on, at some isolations,
// with what it saw before; whoever waits for a change begins again.
func keepGuardrail(ctx context.Context, tx Tx, account string, id uuid.UUID) error {
	n, err := tx.Exec(ctx, `UPDATE {guardrails} SET revision = revision WHERE account = $1 AND id = $2`, account, id.String())
	if err == nil && n == 0 {
		err = guardrails.ErrNotFound
	}
	return err
}

// Delete implements [guardrails.Store]. A transaction that assigns its subjects to
// another guardrail locks in the same order.
func (s *Guardrails) Delete(ctx context.Context, account string, id uuid.UUID, c router.Change) error {
	return change(ctx, s.db, c, func(tx Tx) (bool, error) {
		if err := keepGuardrail(ctx, tx, account, id); err != nil {
			return false, err
		}
		if err := s.uncover(ctx, tx, account, id); err != nil {
			return false, err
		}
		for _, statement := range []string{
			`DELETE FROM {guardrails} WHERE account = $1 AND id = $2`,
			`DELETE FROM {guardrail_assignments} WHERE account = $1 AND guardrail = $2`,
		} {
			if _, err := tx.Exec(ctx, statement, account, id.String()); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// raisedRow is a row of guardrailColumns that tells a version of a line's owner:
// as a revision, of no guardrail.
const raisedRow = `'00000000-0000-0000-0000-000000000000', '', '', false, '', '{"reset":"lifetime"}', 0, 0`

// Applied implements [guardrails.Store]: a few points of three indexes, and one
// query, so that all is of one instant.
func (s *Guardrails) Applied(ctx context.Context, p router.Principal) (applied guardrails.Applied, err error) {
	lines, owners := guardsOf(p), []any{"", "", ""}
	for i, line := range lines {
		owners[i] = line.Owner
	}
	err = s.db.ReadOne(ctx, func(tx Tx) error {
		applied = guardrails.Applied{}
		newest := map[string]int64{}
		err := query(ctx, tx, func(rows Rows) error {
			var covers string
			g, err := scanGuardrailAfter(rows, &covers)
			switch covers {
			default:
				newest[covers] = g.Revision
			case keyWord:
				applied.Key = &g
			case memberWord:
				applied.Member = &g
			case workspaceWord:
				applied.Workspace = &g
			}
			return err
		}, `
			SELECT 'workspace', `+guardrailColumns+` FROM {guardrails} g
			WHERE g.account = $1 AND g.workspace = $2 AND g.is_default AND $2 <> ''
			UNION ALL
			SELECT a.kind, `+guardrailColumns+` FROM {guardrail_assignments} a JOIN {guardrails} g ON g.id = a.guardrail
			WHERE a.account = $1 AND a.kind = 'member' AND a.subject = $3 AND $3 <> ''
			UNION ALL
			SELECT a.kind, `+guardrailColumns+` FROM {guardrail_assignments} a JOIN {guardrails} g ON g.id = a.guardrail
			WHERE a.account = $1 AND a.kind = 'key' AND a.subject = $4 AND $4 <> ''
			UNION ALL
			SELECT l.owner, `+raisedRow+`, l.guards FROM {lines} l WHERE l.owner IN ($5, $6, $7) AND l.win = 'ever'`,
			append([]any{p.Account, p.Workspace, p.Member, p.KeyHash}, owners...)...)
		for _, line := range lines {
			applied.Versions = append(applied.Versions, router.Version{Line: line, Cover: true, N: newest[line.Owner]})
		}
		return err
	})
	if err != nil {
		return guardrails.Applied{}, err
	}
	return applied, nil
}
