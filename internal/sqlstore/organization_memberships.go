package sqlstore

import (
	"context"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// AddToWorkspace implements [organization.Store].
func (s *Organization) AddToWorkspace(
	ctx context.Context, account, workspace string, list []organization.Membership, c router.Change,
) (added int, err error) {
	err = s.changeMembers(ctx, account, workspace, c, func(tx sqldb.Tx) (bool, error) {
		added = 0
		for i := range list {
			n, err := addMembership(ctx, tx, account, workspace, &list[i])
			if err != nil {
				return false, err
			}
			added += int(n)
		}
		return added > 0, nil
	})
	if err != nil {
		return 0, err
	}
	return added, nil
}

// changeMembers is change, and requires that the workspace exists.
func (s *Organization) changeMembers(
	ctx context.Context, account, workspace string, c router.Change, f func(sqldb.Tx) (changed bool, err error),
) error {
	return s.change(ctx, account, c, func(tx sqldb.Tx) (bool, error) {
		if err := there(ctx, tx, `SELECT 1 FROM {workspaces} WHERE account = $1 AND id = $2`, account, workspace); err != nil {
			return false, err
		}
		return f(tx)
	})
}

// addMembership returns 1, or 0 if the membership exists.
func addMembership(ctx context.Context, tx sqldb.Tx, account, workspace string, m *organization.Membership) (int64, error) {
	n, err := tx.Exec(ctx, `
		INSERT INTO {memberships} (account, workspace, member, id, created_at)
		SELECT account, CAST($2 AS text), id, CAST($4 AS text), CAST($5 AS bigint) FROM {members} WHERE account = $1 AND id = $3
		ON CONFLICT (account, workspace, member) DO NOTHING`,
		account, workspace, m.User, m.ID, sqldb.Micros(m.CreatedAt))
	if err != nil || n > 0 {
		return n, err
	}
	return 0, there(ctx, tx, `SELECT 1 FROM {members} WHERE account = $1 AND id = $2`, account, m.User)
}

// RemoveFromWorkspace implements [organization.Store].
func (s *Organization) RemoveFromWorkspace(
	ctx context.Context, account, workspace string, users []string, c router.Change,
) (removed int, err error) {
	err = s.changeMembers(ctx, account, workspace, c, func(tx sqldb.Tx) (bool, error) {
		removed = 0
		for _, user := range users {
			n, err := tx.Exec(ctx, `DELETE FROM {memberships} WHERE account = $1 AND workspace = $2 AND member = $3`,
				account, workspace, user)
			if err != nil {
				return false, err
			}
			removed += int(n)
		}
		return removed > 0, nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// Memberships implements [organization.Store].
func (s *Organization) Memberships(
	ctx context.Context, account, workspace string, offset, limit int,
) (found []organization.Membership, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if total, err = totalOf(ctx, tx, `
			SELECT (SELECT count(*) FROM {memberships} WHERE account = $1 AND workspace = $2)
			FROM {workspaces} WHERE account = $1 AND id = $2`, account, workspace); err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanMembership, `
			SELECT s.id, s.member, s.workspace, m.role, s.created_at
			FROM {memberships} s JOIN {members} m ON m.account = s.account AND m.id = s.member
			WHERE s.account = $1 AND s.workspace = $2
			ORDER BY s.created_at, s.member LIMIT $3 OFFSET $4`, account, workspace, atMost(limit), max(offset, 0))
		return err
	})
	return found, total, err
}

func scanMembership(rows sqldb.Rows) (m organization.Membership, err error) {
	var created int64
	err = rows.Scan(&m.ID, &m.User, &m.Workspace, &m.Role, &created)
	m.CreatedAt = sqldb.Instant(created)
	return m, err
}
