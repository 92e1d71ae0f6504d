package sqlstore

import (
	"context"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

const workspaceColumns = `account, id, slug, name, description, created_by, default_guardrail, default_sort,
	budgets, include_byok, created_at, updated_at, version`

// CreateWorkspace implements [organization.Store].
func (s *Organization) CreateWorkspace(ctx context.Context, w organization.Workspace, c router.Change) error {
	args, err := workspaceArgs(w.Account, &w)
	if err != nil {
		return err
	}
	return s.change(ctx, w.Account, c, func(tx sqldb.Tx) (bool, error) { return true, addWorkspace(ctx, tx, args) })
}

// addWorkspace returns [organization.ErrExists] if the id or the slug is taken.
func addWorkspace(ctx context.Context, tx sqldb.Tx, args []any) error {
	return effect(ctx, tx, organization.ErrExists, `
		INSERT INTO {workspaces} (`+workspaceColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT DO NOTHING`, args...)
}

// workspaceArgs returns the values of workspaceColumns.
func workspaceArgs(account string, w *organization.Workspace) ([]any, error) {
	budgets, err := encoded(budgetRows(w.Budgets))
	return []any{
		account, w.ID, w.Slug, w.Name, w.Description, w.CreatedBy, w.DefaultGuardrail, string(w.DefaultSort),
		budgets, w.IncludeBYOK, sqldb.Micros(w.CreatedAt), sqldb.Micros(w.UpdatedAt), w.Version,
	}, err
}

// budgetRow is a budget as it is stored.
type budgetRow struct {
	ID        string          `json:"id"`
	Interval  router.Interval `json:"interval"`
	LimitNano int64           `json:"limit_nano"`
	CreatedAt int64           `json:"created_at"`
	UpdatedAt int64           `json:"updated_at"`
}

func budgetRows(list []organization.Budget) []budgetRow {
	if list == nil {
		return nil
	}
	rows := make([]budgetRow, len(list))
	for i, b := range list {
		rows[i] = budgetRow{b.ID, b.Interval, int64(b.Limit), sqldb.Micros(b.CreatedAt), sqldb.Micros(b.UpdatedAt)}
	}
	return rows
}

// budgetsOf is the inverse of budgetRows.
func budgetsOf(rows []budgetRow) []organization.Budget {
	if rows == nil {
		return nil
	}
	list := make([]organization.Budget, len(rows))
	for i, r := range rows {
		list[i] = organization.Budget{
			ID: r.ID, Interval: r.Interval, Limit: router.USD(r.LimitNano),
			CreatedAt: sqldb.Instant(r.CreatedAt), UpdatedAt: sqldb.Instant(r.UpdatedAt),
		}
	}
	return list
}

// Workspace implements [organization.Store].
func (s *Organization) Workspace(ctx context.Context, account, ref string) (w organization.Workspace, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		w, err = sqldb.One(ctx, tx, organization.ErrNotFound, scanWorkspace, `
			SELECT `+workspaceColumns+` FROM {workspaces}
			WHERE account = $1 AND id IN ($2, (SELECT id FROM {workspaces} WHERE account = $1 AND slug = $2))
			ORDER BY id = $2 DESC LIMIT 1`, account, ref)
		return err
	})
	return w, err
}

func scanWorkspace(rows sqldb.Rows) (w organization.Workspace, err error) {
	var budgets string
	var created, updated int64
	if err = rows.Scan(&w.Account, &w.ID, &w.Slug, &w.Name, &w.Description, &w.CreatedBy, &w.DefaultGuardrail, &w.DefaultSort,
		&budgets, &w.IncludeBYOK, &created, &updated, &w.Version); err != nil {
		return w, err
	}
	w.CreatedAt, w.UpdatedAt = sqldb.Instant(created), sqldb.Instant(updated)
	stored, err := decoded[[]budgetRow](budgets)
	w.Budgets = budgetsOf(stored)
	return w, err
}

// Workspaces implements [organization.Store].
func (s *Organization) Workspaces(
	ctx context.Context, account string, offset, limit int,
) (found []organization.Workspace, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if total, err = totalOf(ctx, tx, `
			SELECT (SELECT count(*) FROM {workspaces} WHERE account = $1) FROM {accounts} WHERE id = $1`, account); err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanWorkspace, `
			SELECT `+workspaceColumns+` FROM {workspaces} WHERE account = $1
			ORDER BY created_at, id LIMIT $2 OFFSET $3`, account, atMost(limit), max(offset, 0))
		return err
	})
	return found, total, err
}

// ReplaceWorkspace implements [organization.Store].
func (s *Organization) ReplaceWorkspace(ctx context.Context, w organization.Workspace, c router.Change) error {
	args, err := workspaceArgs(w.Account, &w)
	if err != nil {
		return err
	}
	return s.change(ctx, w.Account, c, func(tx sqldb.Tx) (bool, error) {
		// The slug cannot be taken meanwhile: that would change the account's row too.
		n, err := tx.Exec(ctx, `
			UPDATE {workspaces} SET slug = $3, name = $4, description = $5, created_by = $6, default_guardrail = $7,
				default_sort = $8, budgets = $9, include_byok = $10, created_at = $11, updated_at = $12, version = version + 1
			WHERE account = $1 AND id = $2 AND version = $13
				AND NOT EXISTS (SELECT 1 FROM {workspaces} AS other WHERE other.account = $1 AND other.slug = $3 AND other.id <> $2)`,
			args...)
		switch {
		case err != nil:
			return false, err
		case n > 0:
			return true, sqlledger.RaiseVersion(ctx, tx, workspaceLine(w.ID), w.Version+1)
		}
		version, err := sqldb.One(ctx, tx, organization.ErrNotFound, scanInt,
			`SELECT version FROM {workspaces} WHERE account = $1 AND id = $2`, w.Account, w.ID)
		switch {
		case err != nil:
			return false, err
		case version != w.Version:
			return false, organization.ErrConflict
		}
		return false, organization.ErrExists
	})
}

// DeleteWorkspace implements [organization.Store].
func (s *Organization) DeleteWorkspace(ctx context.Context, account, id string, c router.Change) error {
	return s.change(ctx, account, c, func(tx sqldb.Tx) (bool, error) {
		version, err := sqldb.One(ctx, tx, organization.ErrNotFound, scanInt,
			`SELECT version FROM {workspaces} WHERE account = $1 AND id = $2`, account, id)
		if err != nil {
			return false, err
		}
		for _, statement := range []string{
			`DELETE FROM {workspaces} WHERE account = $1 AND id = $2`,
			`DELETE FROM {memberships} WHERE account = $1 AND workspace = $2`,
		} {
			if _, err := tx.Exec(ctx, statement, account, id); err != nil {
				return false, err
			}
		}
		return true, sqlledger.RaiseVersion(ctx, tx, workspaceLine(id), version+1)
	})
}

func workspaceLine(id string) router.Line {
	return router.OwnerWorkspace.Line(router.Principal{Workspace: id}, sqlledger.Ever)
}
