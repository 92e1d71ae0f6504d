package sqlstore

import (
	"cmp"
	"context"
	"math"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

const memberColumns = `account, id, email, first_name, last_name, role, created_at, version`

// AddMember implements [organization.Store].
func (s *Organization) AddMember(ctx context.Context, account string, m organization.Member, c router.Change) error {
	return s.change(ctx, account, c, func(tx sqldb.Tx) (bool, error) { return true, addMember(ctx, tx, memberArgs(account, &m)) })
}

func addMember(ctx context.Context, tx sqldb.Tx, args []any) error {
	return effect(ctx, tx, organization.ErrExists, `
		INSERT INTO {members} (`+memberColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (account, id) DO NOTHING`, args...)
}

// memberArgs returns the values of memberColumns.
func memberArgs(account string, m *organization.Member) []any {
	return []any{account, m.ID, m.Email, m.FirstName, m.LastName, string(m.Role), sqldb.Micros(m.CreatedAt), m.Version}
}

// ReplaceMember implements [organization.Store].
func (s *Organization) ReplaceMember(ctx context.Context, account string, m organization.Member, c router.Change) error {
	return s.change(ctx, account, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			UPDATE {members} SET email = $3, first_name = $4, last_name = $5, role = $6, created_at = $7, version = version + 1
			WHERE account = $1 AND id = $2 AND version = $8`, memberArgs(account, &m)...)
		if err != nil || n > 0 {
			return true, err
		}
		if err := there(ctx, tx, `SELECT 1 FROM {members} WHERE account = $1 AND id = $2`, account, m.ID); err != nil {
			return false, err
		}
		return false, organization.ErrConflict
	})
}

// there returns [organization.ErrNotFound] if a query has no rows.
func there(ctx context.Context, tx sqldb.Tx, text string, args ...any) error {
	_, err := sqldb.One(ctx, tx, organization.ErrNotFound, scanInt, text, args...)
	return err
}

// RemoveMember implements [organization.Store].
func (s *Organization) RemoveMember(ctx context.Context, account, id string, c router.Change) error {
	return s.change(ctx, account, c, func(tx sqldb.Tx) (bool, error) {
		if err := effect(ctx, tx, organization.ErrNotFound,
			`DELETE FROM {members} WHERE account = $1 AND id = $2`, account, id); err != nil {
			return false, err
		}
		_, err := tx.Exec(ctx, `DELETE FROM {memberships} WHERE account = $1 AND member = $2`, account, id)
		return true, err
	})
}

// Member implements [organization.Store].
func (s *Organization) Member(ctx context.Context, account, id string) (m organization.Member, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		m, err = sqldb.One(ctx, tx, organization.ErrNotFound, scanMember,
			`SELECT `+memberColumns+` FROM {members} WHERE account = $1 AND id = $2`, account, id)
		return err
	})
	return m, err
}

func scanMember(rows sqldb.Rows) (m organization.Member, err error) {
	var account string
	var created int64
	err = rows.Scan(&account, &m.ID, &m.Email, &m.FirstName, &m.LastName, &m.Role, &created, &m.Version)
	m.CreatedAt = sqldb.Instant(created)
	return m, err
}

// Members implements [organization.Store].
func (s *Organization) Members(
	ctx context.Context, account string, offset, limit int,
) (found []organization.Member, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if total, err = totalOf(ctx, tx, `
			SELECT (SELECT count(*) FROM {members} WHERE account = $1) FROM {accounts} WHERE id = $1`, account); err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanMember, `
			SELECT `+memberColumns+` FROM {members} WHERE account = $1
			ORDER BY created_at, id LIMIT $2 OFFSET $3`, account, atMost(limit), max(offset, 0))
		return err
	})
	return found, total, err
}

// totalOf returns the number in the only row of a query, or
// [organization.ErrNotFound] if it has none.
func totalOf(ctx context.Context, tx sqldb.Tx, text string, args ...any) (int, error) {
	n, err := sqldb.One(ctx, tx, organization.ErrNotFound, scanInt, text, args...)
	return int(n), err
}

// atMost returns a LIMIT for limit, of which 0 means no limit.
func atMost(limit int) int { return cmp.Or(max(limit, 0), math.MaxInt32) }
