package sqlstore

import (
	"context"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

var _ keys.CredentialStore = (*Credentials)(nil)

// Credentials keeps the accounts' own credentials.
type Credentials struct{ db sqldb.DB }

// NewCredentials returns the credentials in db.
func NewCredentials(db sqldb.DB) *Credentials { return &Credentials{db: db} }

const (
	//nolint:gosec // names of columns
	credentialColumns = `id, account, workspace, provider, label, name, disabled, fallback,
		models, key_hashes, members, rank, created_at, revision`
	sealedColumns = credentialColumns + `, sealed_by, sealed`
)

// Create implements [keys.CredentialStore].
func (s *Credentials) Create(ctx context.Context, c keys.StoredCredential, record router.Change) (order int64, err error) {
	lists, err := credentialLists(&c.Credential)
	if err != nil {
		return 0, err
	}
	err = change(ctx, s.db, record, func(tx sqldb.Tx) (bool, error) {
		// Concurrent transactions wait for this row.
		order, err = sqldb.One(ctx, tx, nil, scanInt, `
			INSERT INTO {credential_ranks} AS r (account, workspace, given) VALUES ($1, $2, 1)
			ON CONFLICT (account, workspace) DO UPDATE SET given = r.given + 1
			RETURNING given`, c.Account, c.Workspace)
		if err != nil {
			return false, err
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO {credentials} (`+sealedColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
			c.ID, c.Account, c.Workspace, c.Provider, c.Label, c.Name, c.Disabled, c.Fallback,
			lists[0], lists[1], lists[2], order, sqldb.Micros(c.CreatedAt), c.Revision, c.Sealed.KeyID, c.Sealed.Text)
		return true, err
	})
	if err != nil {
		return 0, err
	}
	return order, nil
}

// credentialLists encodes the lists of c. A nil list is decoded as nil again.
func credentialLists(c *keys.Credential) (lists [3]string, err error) {
	for i, list := range [...][]string{c.Models, c.KeyHashes, c.Members} {
		if lists[i], err = encoded(list); err != nil {
			return lists, err
		}
	}
	return lists, nil
}

// Get implements [keys.CredentialStore].
func (s *Credentials) Get(ctx context.Context, account, id string) (c keys.StoredCredential, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		c, err = sqldb.One(ctx, tx, keys.ErrNoCredential, scanSealed,
			`SELECT `+sealedColumns+` FROM {credentials} WHERE id = $1 AND account = $2`, id, account)
		return err
	})
	return c, err
}

func scanSealed(rows sqldb.Rows) (c keys.StoredCredential, err error) {
	c.Credential, err = scanCredentialAnd(rows, &c.Sealed.KeyID, &c.Sealed.Text)
	return c, err
}

func scanCredential(rows sqldb.Rows) (keys.Credential, error) { return scanCredentialAnd(rows) }

// scanCredentialAnd scans credentialColumns and the columns after them.
func scanCredentialAnd(rows sqldb.Rows, more ...any) (c keys.Credential, err error) {
	var lists [3]string
	var created int64
	if err = rows.Scan(append([]any{
		&c.ID, &c.Account, &c.Workspace, &c.Provider, &c.Label, &c.Name, &c.Disabled, &c.Fallback,
		&lists[0], &lists[1], &lists[2], &c.Order, &created, &c.Revision,
	}, more...)...); err != nil {
		return c, err
	}
	c.CreatedAt = sqldb.Instant(created)
	for i, list := range [...]*[]string{&c.Models, &c.KeyHashes, &c.Members} {
		if *list, err = decoded[[]string](lists[i]); err != nil {
			return c, err
		}
	}
	return c, nil
}

// List implements [keys.CredentialStore].
func (s *Credentials) List(ctx context.Context, q keys.CredentialQuery) (found []keys.Credential, total int, err error) {
	const of = ` FROM {credentials} WHERE account = $1 AND workspace = $2 AND ($3 = '' OR provider = $3)`
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if total, err = sqldb.Count(ctx, tx, `SELECT count(*)`+of, q.Account, q.Workspace, q.Provider); err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanCredential, `SELECT `+credentialColumns+of+` ORDER BY rank LIMIT $4 OFFSET $5`,
			q.Account, q.Workspace, q.Provider, max(q.Limit, 0), max(q.Offset, 0))
		return err
	})
	return found, total, err
}

// Enabled implements [keys.CredentialStore].
func (s *Credentials) Enabled(ctx context.Context, account, workspace string) (found []keys.StoredCredential, err error) {
	err = s.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		found, err = sqldb.List(ctx, tx, scanSealed, `SELECT `+sealedColumns+`
			FROM {credentials} WHERE account = $1 AND workspace = $2 AND NOT disabled ORDER BY rank`, account, workspace)
		return err
	})
	return found, err
}

// Update implements [keys.CredentialStore].
func (s *Credentials) Update(ctx context.Context, c keys.StoredCredential, record router.Change) error {
	lists, err := credentialLists(&c.Credential)
	if err != nil {
		return err
	}
	return change(ctx, s.db, record, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `
			UPDATE {credentials} SET label = $4, name = $5, disabled = $6, fallback = $7,
				models = $8, key_hashes = $9, members = $10, sealed_by = $11, sealed = $12, revision = revision + 1
			WHERE id = $1 AND account = $2 AND revision = $3`,
			c.ID, c.Account, c.Revision, c.Label, c.Name, c.Disabled, c.Fallback,
			lists[0], lists[1], lists[2], c.Sealed.KeyID, c.Sealed.Text)
		return true, s.changed(ctx, tx, c.Account, c.ID, n, err)
	})
}

// Delete implements [keys.CredentialStore].
func (s *Credentials) Delete(ctx context.Context, account, id string, revision int64, record router.Change) error {
	return change(ctx, s.db, record, func(tx sqldb.Tx) (bool, error) {
		n, err := tx.Exec(ctx, `DELETE FROM {credentials} WHERE id = $1 AND account = $2 AND revision = $3`, id, account, revision)
		return true, s.changed(ctx, tx, account, id, n, err)
	})
}

// changed returns why a statement for one revision of a credential changed n rows: nil
// for one row, else the error that applies.
func (s *Credentials) changed(ctx context.Context, tx sqldb.Tx, account, id string, n int64, err error) error {
	if err != nil || n > 0 {
		return err
	}
	there, err := sqldb.Count(ctx, tx, `SELECT count(*) FROM {credentials} WHERE id = $1 AND account = $2`, id, account)
	switch {
	case err != nil:
		return err
	case there == 0:
		return keys.ErrNoCredential
	}
	return keys.ErrCredentialChanged
}
