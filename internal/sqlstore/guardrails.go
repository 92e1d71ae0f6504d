package sqlstore

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/router"
)

var _ guardrails.Store = (*Guardrails)(nil)

// Guardrails keeps guardrails and what they are assigned to.
type Guardrails struct{ db sqldb.DB }

// NewGuardrails returns the guardrails in db.
func NewGuardrails(db sqldb.DB) *Guardrails { return &Guardrails{db: db} }

const guardrailColumns = `g.id, g.account, g.workspace, g.is_default, g.name, g.settings, g.created_at, g.updated_at, g.revision`

// Create implements [guardrails.Store].
func (s *Guardrails) Create(ctx context.Context, g guardrails.Guardrail, c router.Change) error {
	settings, err := encodeGuardrail(&g)
	if err != nil {
		return err
	}
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			INSERT INTO {guardrails} (id, account, workspace, is_default, name, settings, created_at, updated_at, revision)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT DO NOTHING`, // on the id, or on the default of a workspace
			g.ID.String(), g.Account, g.Workspace, g.Default, g.Name, settings, sqldb.Micros(g.CreatedAt), sqldb.Micros(g.UpdatedAt), g.Revision)
		if err == nil && n == 0 {
			err = guardrails.ErrExists
		}
		if err != nil || !g.Default {
			return true, err
		}
		return true, sqlledger.RaiseGuards(ctx, s.db, tx, []router.Line{workspaceLine(g.Workspace)})
	})
}

// Get implements [guardrails.Store].
func (s *Guardrails) Get(ctx context.Context, account string, id uuid.UUID) (g guardrails.Guardrail, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		g, err = sqldb.One(ctx, tx, guardrails.ErrNotFound, scanGuardrail,
			`SELECT `+guardrailColumns+` FROM {guardrails} g WHERE g.account = $1 AND g.id = $2`, account, id.String())
		return err
	})
	return g, err
}

func scanGuardrail(rows sqldb.Rows) (guardrails.Guardrail, error) { return scanGuardrailAfter(rows) }

// scanGuardrailAfter scans the columns before guardrailColumns into dest, and the
// guardrail.
func scanGuardrailAfter(rows sqldb.Rows, dest ...any) (g guardrails.Guardrail, err error) {
	var id, settings string
	var created, updated int64
	if err = rows.Scan(append(dest,
		&id, &g.Account, &g.Workspace, &g.Default, &g.Name, &settings, &created, &updated, &g.Revision)...); err != nil {
		return g, err
	}
	g.CreatedAt, g.UpdatedAt = sqldb.Instant(created), sqldb.Instant(updated)
	if g.ID, err = uuid.Parse(id); err != nil {
		return g, err
	}
	err = decodeGuardrail(settings, &g)
	return g, err
}

// List implements [guardrails.Store].
func (s *Guardrails) List(ctx context.Context, account, workspace string, offset, limit int) (found []guardrails.Guardrail, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		total, err = sqldb.Count(ctx, tx, `SELECT count(*) FROM {guardrails} WHERE account = $1 AND workspace = $2`, account, workspace)
		if err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanGuardrail, `
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
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			UPDATE {guardrails} SET name = $3, settings = $4, created_at = $5, updated_at = $6, revision = $7
			WHERE account = $1 AND id = $2 AND revision = $8`,
			g.Account, g.ID.String(), g.Name, settings, sqldb.Micros(g.CreatedAt), sqldb.Micros(g.UpdatedAt), g.Revision, g.Revision-1)
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

// uncover raises the guardrail versions of every owner that a guardrail covers. It
// locks the assignments of the guardrail.
func (s *Guardrails) uncover(ctx context.Context, tx sqldb.Tx, account string, id uuid.UUID) error {
	lines, err := sqldb.List(ctx, tx, func(rows sqldb.Rows) (line router.Line, err error) {
		var kind, name string
		err = rows.Scan(&kind, &name)
		return coveredLine(account, kind, name), err
	}, `SELECT kind, subject FROM {guardrail_assignments} WHERE account = $1 AND guardrail = $2
		ORDER BY kind, subject FOR UPDATE`, account, id.String())
	if err != nil {
		return err
	}
	home, err := sqldb.List(ctx, tx, sqldb.ScanText,
		`SELECT workspace FROM {guardrails} WHERE account = $1 AND id = $2 AND is_default`, account, id.String())
	if err != nil {
		return err
	}
	for _, workspace := range home {
		lines = append(lines, workspaceLine(workspace))
	}
	return sqlledger.RaiseGuards(ctx, s.db, tx, lines)
}

// coveredLine returns the line of a key or a member.
func coveredLine(account, kind, name string) router.Line {
	if kind == memberWord {
		return router.OwnerMember.Line(router.Principal{Account: account, Member: name}, sqlledger.Ever)
	}
	return router.OwnerKey.Line(router.Principal{KeyHash: name}, sqlledger.Ever)
}

// findGuardrail returns [guardrails.ErrNotFound] if there is no such guardrail.
func findGuardrail(ctx context.Context, tx sqldb.Tx, account string, id uuid.UUID) error {
	_, err := sqldb.One(ctx, tx, guardrails.ErrNotFound, scanInt,
		`SELECT revision FROM {guardrails} WHERE account = $1 AND id = $2`, account, id.String())
	return err
}

// keepGuardrail is findGuardrail, and prevents changes until the transaction ends. It
// updates the row instead of locking it: at REPEATABLE READ a transaction that waits
// for a lock goes on with its old snapshot, while one that waits for an update is
// retried with a new one.
func keepGuardrail(ctx context.Context, tx sqldb.Tx, account string, id uuid.UUID) error {
	n, err := tx.Exec(ctx, `UPDATE {guardrails} SET revision = revision WHERE account = $1 AND id = $2`, account, id.String())
	if err == nil && n == 0 {
		err = guardrails.ErrNotFound
	}
	return err
}

// Delete implements [guardrails.Store]. It locks in the same order as a transaction
// that assigns its subjects to another guardrail.
func (s *Guardrails) Delete(ctx context.Context, account string, id uuid.UUID, c router.Change) error {
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
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

// raisedRow is a row of guardrailColumns that carries only a line's guardrail version,
// in the place of a revision.
const raisedRow = `'00000000-0000-0000-0000-000000000000', '', '', false, '', '{"reset":"lifetime"}', 0, 0`

// Applied implements [guardrails.Store]. One query reads a few entries of three
// indexes, so that the result is one snapshot.
func (s *Guardrails) Applied(ctx context.Context, p router.Principal) (applied guardrails.Applied, err error) {
	lines, owners := sqlledger.GuardedLines(p), []any{"", "", ""}
	for i, line := range lines {
		owners[i] = line.Owner
	}
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		applied = guardrails.Applied{}
		newest := map[string]int64{}
		err := sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
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
