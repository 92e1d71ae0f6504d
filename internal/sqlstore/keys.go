package sqlstore

import (
	"context"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

var _ keys.Store = (*Keys)(nil)

// Keys keeps API keys.
type Keys struct{ db sqldb.DB }

// NewKeys returns the keys in db.
func NewKeys(db sqldb.DB) *Keys { return &Keys{db: db} }

const keyColumns = `hash, label, name, account, workspace, creator, management, provisioned, disabled,
	max_nano, reset, include_byok, external_user, external_hash, expires_at, created_at, updated_at, version`

// Create implements [keys.Store].
func (s *Keys) Create(ctx context.Context, k keys.Key, c router.Change) error {
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			INSERT INTO {keys} (`+keyColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
			ON CONFLICT (hash) DO NOTHING`, keyArgs(&k, k.Version)...)
		if err == nil && n == 0 {
			err = keys.ErrExists
		}
		return true, err
	})
}

func keyArgs(k *keys.Key, version int64) []any {
	return []any{
		k.Hash, k.Label, k.Name, k.Account, k.Workspace, k.Creator, k.Management, k.Provisioned, k.Disabled,
		nanos(k.Limit), int64(k.Reset), k.IncludeBYOK, k.ExternalUser, k.ExternalHash,
		sqldb.Micros(k.ExpiresAt), sqldb.Micros(k.CreatedAt), sqldb.Micros(k.UpdatedAt), version,
	}
}

// Get implements [keys.Store].
func (s *Keys) Get(ctx context.Context, hash string) (k keys.Key, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		k, err = sqldb.One(ctx, tx, keys.ErrNotFound, scanKey, `SELECT `+keyColumns+` FROM {keys} WHERE hash = $1`, hash)
		return err
	})
	return k, err
}

func scanKey(rows sqldb.Rows) (k keys.Key, err error) {
	var limit *int64
	var reset, expires, created, updated int64
	err = rows.Scan(&k.Hash, &k.Label, &k.Name, &k.Account, &k.Workspace, &k.Creator, &k.Management, &k.Provisioned, &k.Disabled,
		&limit, &reset, &k.IncludeBYOK, &k.ExternalUser, &k.ExternalHash, &expires, &created, &updated, &k.Version)
	k.Limit, k.Reset = money(limit), router.Interval(reset) //nolint:gosec // one of four
	k.ExpiresAt, k.CreatedAt, k.UpdatedAt = sqldb.Instant(expires), sqldb.Instant(created), sqldb.Instant(updated)
	return k, err
}

// Replace implements [keys.Store].
func (s *Keys) Replace(ctx context.Context, k keys.Key, c router.Change) error {
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			UPDATE {keys} SET label = $2, name = $3, workspace = $5, creator = $6, management = $7, provisioned = $8,
				disabled = $9, max_nano = $10, reset = $11, include_byok = $12, external_user = $13, external_hash = $14,
				expires_at = $15, created_at = $16, updated_at = $17, version = version + 1
			WHERE hash = $1 AND account = $4 AND version = $18`, keyArgs(&k, k.Version)...)
		return true, s.changed(ctx, tx, k, n, err)
	})
}

// Delete implements [keys.Store].
func (s *Keys) Delete(ctx context.Context, k keys.Key, c router.Change) error {
	return change(ctx, s.db, c, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `DELETE FROM {keys} WHERE hash = $1 AND account = $2 AND version = $3`, k.Hash, k.Account, k.Version)
		return true, s.changed(ctx, tx, k, n, err)
	})
}

// changed raises the version of k's line if a statement for one version of k changed
// n = 1 row. Otherwise it returns why the statement changed none.
func (s *Keys) changed(ctx context.Context, tx sqldb.Tx, k keys.Key, n int64, err error) error {
	if err != nil {
		return err
	}
	if n > 0 {
		return sqlledger.RaiseVersion(ctx, tx, router.OwnerKey.Line(router.Principal{KeyHash: k.Hash}, sqlledger.Ever), k.Version+1)
	}
	there, err := sqldb.Count(ctx, tx, `SELECT count(*) FROM {keys} WHERE hash = $1 AND account = $2`, k.Hash, k.Account)
	switch {
	case err != nil:
		return err
	case there == 0:
		return keys.ErrNotFound
	}
	return keys.ErrConflict
}

// List implements [keys.Store].
func (s *Keys) List(ctx context.Context, account string, q keys.Query) (found []keys.Key, err error) {
	of := `workspace = $5 AND management = false` // the condition of a partial index
	if q.Management {
		of = `management AND $5 = $5`
	}
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		found, err = sqldb.List(ctx, tx, scanKey, `
			SELECT `+keyColumns+` FROM {keys} WHERE account = $1 AND (NOT disabled OR $2) AND `+of+`
			ORDER BY created_at DESC, hash LIMIT $3 OFFSET $4`,
			account, q.IncludeDisabled, max(q.Limit, 0), max(q.Offset, 0), q.Workspace)
		return err
	})
	return found, err
}

// CountIn implements [keys.Store].
func (s *Keys) CountIn(ctx context.Context, account, workspace string) (n int, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		n, err = sqldb.Count(ctx, tx, `SELECT count(*) FROM {keys} WHERE account = $1 AND workspace = $2 AND management = false`, account, workspace)
		return err
	})
	return n, err
}

// CountOf implements [keys.Store].
func (s *Keys) CountOf(ctx context.Context, account, workspace, creator string) (n int, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		n, err = sqldb.Count(ctx, tx, `SELECT count(*) FROM {keys} WHERE account = $1 AND creator = $2 AND ($3 = '' OR workspace = $3 AND NOT management)`,
			account, creator, workspace)
		return err
	})
	return n, err
}
