package sqlstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router/hooks"
)

var _ hooks.AlertStore = (*Alerts)(nil)

// Alerts keeps alerts of budgets. A row without an instant in due is delivered.
type Alerts struct{ db sqldb.DB }

// NewAlerts returns the alerts in db.
func NewAlerts(db sqldb.DB) *Alerts { return &Alerts{db: db} }

const (
	addAlert = `INSERT INTO {alerts} (id, event, raised, due, expires) VALUES ($1, $2, $3, $3, $4) ON CONFLICT (id) DO NOTHING`
	// isDue avoids a write transaction while there is nothing to do, which is nearly always.
	isDue     = `SELECT count(*) FROM (SELECT 1 FROM {alerts} WHERE due <= $1 OR expires <= $1 LIMIT 1) AS one`
	dueAlerts = `SELECT id, event, raised, expires FROM {alerts}
		WHERE due <= $1 AND (expires IS NULL OR expires > $1) ORDER BY due, id LIMIT $2 FOR UPDATE`
	takeAlert  = `UPDATE {alerts} SET due = $2, taker = $3 WHERE id = $1 AND due <= $4`
	hasAlert   = `SELECT count(*) FROM {alerts} WHERE id = $1 AND taker = $2 AND due IS NOT NULL`
	doneAlert  = `UPDATE {alerts} SET due = NULL WHERE id = $1`
	dropAlerts = `DELETE FROM {alerts} WHERE id IN (SELECT id FROM {alerts} WHERE expires <= $1 ORDER BY expires LIMIT $2)`
	dropMost   = 1000
)

// Raise implements [hooks.AlertStore].
func (s *Alerts) Raise(ctx context.Context, a hooks.Alert) error {
	var expires *int64
	if !a.Expires.IsZero() {
		expires = new(sqldb.Micros(a.Expires))
	}
	return sqldb.WriteIdempotent(ctx, s.db, func(tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, addAlert, a.ID, string(a.Event), sqldb.Micros(a.Raised), expires)
		return err
	})
}

// Take implements [hooks.AlertStore].
func (s *Alerts) Take(ctx context.Context, id uuid.UUID, now, until time.Time, limit int) ([]hooks.Alert, error) {
	some := 0
	err := s.db.ReadOne(ctx, func(tx sqldb.Tx) (err error) {
		some, err = sqldb.Count(ctx, tx, isDue, sqldb.Micros(now))
		return err
	})
	if err != nil || some == 0 {
		return nil, err
	}
	var tried, taken []hooks.Alert // by the last run, whose outcome was unknown, and by this one
	err = sqldb.WriteIdempotent(ctx, s.db, func(tx sqldb.Tx) error {
		taken = nil
		for _, a := range tried {
			n, err := sqldb.Count(ctx, tx, hasAlert, a.ID, id.String())
			if err != nil {
				return err
			}
			if n > 0 {
				taken = append(taken, a)
			}
		}
		if _, err := tx.Exec(ctx, dropAlerts, sqldb.Micros(now), dropMost); err != nil {
			return err
		}
		due, err := sqldb.List(ctx, tx, scanAlert, dueAlerts, sqldb.Micros(now), max(limit-len(taken), 0))
		if err != nil {
			return err
		}
		for _, a := range due {
			if _, err := tx.Exec(ctx, takeAlert, a.ID, sqldb.Micros(until), id.String(), sqldb.Micros(now)); err != nil {
				return err
			}
			taken = append(taken, a)
		}
		tried = taken
		return nil
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

func scanAlert(rows sqldb.Rows) (a hooks.Alert, err error) {
	var event string
	var raised int64
	var expires *int64
	if err = rows.Scan(&a.ID, &event, &raised, &expires); err != nil {
		return a, err
	}
	a.Event, a.Raised = []byte(event), sqldb.Instant(raised)
	if expires != nil {
		a.Expires = sqldb.Instant(*expires)
	}
	return a, nil
}

// Done implements [hooks.AlertStore].
func (s *Alerts) Done(ctx context.Context, id string) error {
	return sqldb.WriteIdempotent(ctx, s.db, func(tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, doneAlert, id)
		return err
	})
}
