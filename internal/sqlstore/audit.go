package sqlstore

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

var _ organization.AuditStore = (*Audit)(nil)

// Audit reads the records of changes, which all stores of a database write.
type Audit struct{ db sqldb.DB }

// NewAudit returns the records in db.
func NewAudit(db sqldb.DB) *Audit { return &Audit{db: db} }

// errRecorded rolls back the transaction in which recorded looks for a record.
var errRecorded = errors.New("sqlstore: the record exists")

// change runs f in one transaction. If f reports a change, it stores the record c in
// the same transaction. After a commit of unknown outcome it looks for the record,
// which exists if and only if the commit happened.
func change(ctx context.Context, db sqldb.DB, c router.Change, f func(sqldb.Tx) (changed bool, err error)) error {
	for {
		err := db.Write(ctx, func(tx sqldb.Tx) error {
			changed, err := f(tx)
			if err != nil || !changed {
				return err
			}
			_, err = record(ctx, tx, c)
			return err
		})
		if !errors.Is(err, sqldb.ErrUnknown) {
			return err
		}
		if done, err := recorded(ctx, db, c); done || err != nil {
			return err
		}
	}
}

// recorded reports whether the transaction that stores c happened. It tries to store
// c, because that waits for a transaction that is still running.
func recorded(ctx context.Context, db sqldb.DB, c router.Change) (done bool, err error) {
	err = db.Write(ctx, func(tx sqldb.Tx) error {
		stored, err := record(ctx, tx, c)
		if err != nil {
			return err
		}
		done = stored == 0
		return errRecorded
	})
	if errors.Is(err, errRecorded) {
		err = nil
	}
	return done, err
}

// record stores c and returns 1, or 0 if it is stored already.
func record(ctx context.Context, tx sqldb.Tx, c router.Change) (int64, error) {
	p := c.Actor.Principal
	return tx.Exec(ctx, `
		INSERT INTO {audit} (id, account, at, request, actor_account, actor_workspace, actor_member, actor_key,
			actor_management, action, kind, object, before, after)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (id) DO NOTHING`,
		c.ID.String(), c.Account, sqldb.Micros(c.At), c.Actor.RequestID, p.Account, p.Workspace, p.Member, p.KeyHash,
		p.Management, c.Action, c.Kind, c.Object, text(c.Before), text(c.After))
}

// Changes implements [organization.AuditStore].
func (s *Audit) Changes(ctx context.Context, account string, offset, limit int) (found []router.Change, total int, err error) {
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if total, err = sqldb.Count(ctx, tx, `SELECT count(*) FROM {audit} WHERE account = $1`, account); err != nil {
			return err
		}
		found, err = sqldb.List(ctx, tx, scanChange, `
			SELECT id, account, at, request, actor_account, actor_workspace, actor_member, actor_key,
				actor_management, action, kind, object, before, after
			FROM {audit} WHERE account = $1 ORDER BY seq DESC LIMIT $2 OFFSET $3`, account, limit, offset)
		return err
	})
	return found, total, err
}

func scanChange(rows sqldb.Rows) (c router.Change, err error) {
	var id string
	var at int64
	var before, after *string
	p := &c.Actor.Principal
	if err = rows.Scan(&id, &c.Account, &at, &c.Actor.RequestID, &p.Account, &p.Workspace, &p.Member, &p.KeyHash,
		&p.Management, &c.Action, &c.Kind, &c.Object, &before, &after); err != nil {
		return c, err
	}
	c.At, c.Before, c.After = sqldb.Instant(at), raw(before), raw(after)
	c.ID, err = uuid.Parse(id)
	return c, err
}
