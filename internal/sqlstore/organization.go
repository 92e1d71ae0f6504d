package sqlstore

import (
	"context"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

var _ organization.Store = (*Organization)(nil)

// Organization keeps accounts, payments, members, workspaces and memberships.
type Organization struct{ db sqldb.DB }

// NewOrganization returns the organization in db.
func NewOrganization(db sqldb.DB) *Organization { return &Organization{db: db} }

// change runs f as the function change does, one change of an account at a time. It
// returns [organization.ErrNotFound] if there is no such account. Accounts are never
// deleted.
//
// It updates the account's row instead of locking it: at REPEATABLE READ a
// transaction that waits for a lock goes on with its old snapshot.
func (s *Organization) change(ctx context.Context, account string, c router.Change, f func(sqldb.Tx) (changed bool, err error)) error {
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		err := effect(ctx, tx, organization.ErrNotFound, `UPDATE {accounts} SET version = version WHERE id = $1`, account)
		if err != nil {
			return false, err
		}
		return f(tx)
	})
}

// effect runs a statement and returns the error none if it changed no row.
func effect(ctx context.Context, tx sqldb.Tx, none error, text string, args ...any) error {
	n, err := tx.Exec(ctx, text, args...)
	if err == nil && n == 0 {
		err = none
	}
	return err
}

const accountColumns = `id, name, personal, default_workspace, filtered_catalog, allowed, ignored, zdr, prepaid,
	credits_nano, created_at, updated_at, version`

// CreateAccount implements [organization.Store].
func (s *Organization) CreateAccount(
	ctx context.Context, a organization.Account, owner organization.Member, w organization.Workspace, c router.Change,
) error {
	account, err := accountArgs(&a)
	if err != nil {
		return err
	}
	workspace, err := workspaceArgs(a.ID, &w)
	if err != nil {
		return err
	}
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		if err := effect(ctx, tx, organization.ErrExists, `
			INSERT INTO {accounts} (`+accountColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
			ON CONFLICT (id) DO NOTHING`, account...); err != nil {
			return false, err
		}
		if err := addMember(ctx, tx, memberArgs(a.ID, &owner)); err != nil {
			return false, err
		}
		return true, addWorkspace(ctx, tx, workspace)
	})
}

// accountArgs returns the values of accountColumns.
func accountArgs(a *organization.Account) ([]any, error) {
	allowed, err := encoded(a.Allowed)
	if err != nil {
		return nil, err
	}
	ignored, err := encoded(a.Ignored)
	return []any{
		a.ID, a.Name, a.Personal, a.DefaultWorkspace, a.FilteredCatalog, allowed, ignored, a.ZDR, a.Prepaid,
		int64(a.Credits), sqldb.Micros(a.CreatedAt), sqldb.Micros(a.UpdatedAt), a.Version,
	}, err
}

// Account implements [organization.Store].
func (s *Organization) Account(ctx context.Context, id string) (a organization.Account, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		a, err = sqldb.One(ctx, tx, organization.ErrNotFound, scanAccount, `SELECT `+accountColumns+` FROM {accounts} WHERE id = $1`, id)
		return err
	})
	return a, err
}

func scanAccount(rows sqldb.Rows) (a organization.Account, err error) {
	var allowed, ignored string
	var credits, created, updated int64
	if err = rows.Scan(&a.ID, &a.Name, &a.Personal, &a.DefaultWorkspace, &a.FilteredCatalog, &allowed, &ignored, &a.ZDR, &a.Prepaid,
		&credits, &created, &updated, &a.Version); err != nil {
		return a, err
	}
	a.Credits, a.CreatedAt, a.UpdatedAt = router.USD(credits), sqldb.Instant(created), sqldb.Instant(updated)
	if a.Allowed, err = decoded[[]string](allowed); err != nil {
		return a, err
	}
	a.Ignored, err = decoded[[]string](ignored)
	return a, err
}

// ReplaceAccount implements [organization.Store].
func (s *Organization) ReplaceAccount(ctx context.Context, a organization.Account, c router.Change) error {
	args, err := accountArgs(&a)
	if err != nil {
		return err
	}
	return s.change(ctx, a.ID, c, func(tx sqldb.Tx) (bool, error) { return true, replaceAccount(ctx, tx, &a, args) })
}

func replaceAccount(ctx context.Context, tx sqldb.Tx, a *organization.Account, args []any) error {
	err := effect(ctx, tx, organization.ErrConflict, `
		UPDATE {accounts} SET name = $2, personal = $3, default_workspace = $4, filtered_catalog = $5, allowed = $6,
			ignored = $7, zdr = $8, prepaid = $9, credits_nano = $10, created_at = $11, updated_at = $12, version = version + 1
		WHERE id = $1 AND version = $13`, args...)
	if err != nil {
		return err
	}
	return sqlledger.RaiseVersion(ctx, tx, router.OwnerAccount.Line(router.Principal{Account: a.ID}, sqlledger.Ever), a.Version+1)
}

// AddPayment implements [organization.Store].
func (s *Organization) AddPayment(ctx context.Context, p organization.Payment, a organization.Account, c router.Change) error {
	args, err := accountArgs(&a)
	if err != nil {
		return err
	}
	return s.change(ctx, a.ID, c, func(tx sqldb.Tx) (bool, error) {
		if err := effect(ctx, tx, organization.ErrExists, `
			INSERT INTO {payments} (account, id, amount_nano, paid_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account, id) DO NOTHING`, a.ID, p.ID, int64(p.Amount), sqldb.Micros(p.At)); err != nil {
			return false, err
		}
		return true, replaceAccount(ctx, tx, &a, args)
	})
}

// Payment implements [organization.Store].
func (s *Organization) Payment(ctx context.Context, account, id string) (p organization.Payment, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		p, err = sqldb.One(ctx, tx, organization.ErrNotFound, scanPayment,
			`SELECT account, id, amount_nano, paid_at FROM {payments} WHERE account = $1 AND id = $2`, account, id)
		return err
	})
	return p, err
}

func scanPayment(rows sqldb.Rows) (p organization.Payment, err error) {
	var amount, at int64
	err = rows.Scan(&p.Account, &p.ID, &amount, &at)
	p.Amount, p.At = router.USD(amount), sqldb.Instant(at)
	return p, err
}
