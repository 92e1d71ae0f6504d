package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// longestPause is the longest pause between two attempts of a transaction that conflicts
// with others.
const longestPause = 200 * time.Millisecond

// commitTime bounds a commit, also after the caller's context has ended.
const commitTime = 10 * time.Second

// rollbackTime bounds a rollback. Afterwards the connection is closed, and the server
// rolls back when it notices.
const rollbackTime = 5 * time.Second

// db is a pool of connections.
type db struct {
	schema string
	names  *sqldb.Names
	begin  func(ctx context.Context, statements ...string) (session, error)
	conns  int  // largest number of connections of the pool
	plain  bool // the database does not know the settings of byIndex
	strict bool // the isolation is stricter than READ COMMITTED: concurrent updates of a row fail
	waits  atomic.Uint64
	texts  sync.Map // texts of RowsStatements by [statement]
	typed  bool     // the server describes parameters before they are sent
}

// newDB returns the database of a pool, with its tables in a schema.
func newDB(pool *pgxpool.Pool, schema string) *db {
	mode := pool.Config().ConnConfig.DefaultQueryExecMode
	return &db{
		schema: schema, names: sqldb.NewNames(`"`+schema+`"."`, `"`),
		begin: begins(pool), conns: int(pool.Stat().MaxConns()),
		typed: mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol,
	}
}

// detect finds out which settings the database knows and which isolation the pool has.
func (d *db) detect(ctx context.Context) error {
	err := d.once(ctx, func(t sqldb.Tx) error {
		_, err := t.Exec(ctx, "SELECT 1")
		return err
	}, d.writing()...)
	if isUnknownSetting(err) {
		d.plain, err = true, nil
	}
	if err != nil {
		return err
	}
	return d.findIsolation(ctx)
}

// Migrated implements [sqldb.DB].
func (d *db) Migrated(ctx context.Context, t sqldb.Tx) (bool, error) {
	return d.is(ctx, t, "SELECT to_regclass($1) IS NOT NULL", d.names.In("{migrations}"))
}

// mostRivals bounds how often Prepare runs again because a concurrent process created the
// same schema. After that another object is in the way, such as a type with the name of a
// table.
const mostRivals = 20

// Prepare implements [sqldb.DB]. It uses an existing schema as it is: the role may have
// the right to create tables in it, but no right to create schemas.
func (d *db) Prepare(ctx context.Context) error {
	for tries := 1; ; tries++ {
		err := d.Write(ctx, func(t sqldb.Tx) error {
			there, err := d.is(ctx, t, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", d.schema)
			if err != nil {
				return err
			}
			statements := `CREATE TABLE IF NOT EXISTS {migrations} (version bigint PRIMARY KEY, name text NOT NULL);
				INSERT INTO {migrations} (version, name) VALUES (0, 'none') ON CONFLICT (version) DO NOTHING`
			if !there {
				statements = `CREATE SCHEMA "` + d.schema + `"; ` + statements
			}
			return d.Script(ctx, t, statements)
		})
		if !collided(err) || tries == mostRivals {
			return err
		}
	}
}

// is runs a query that returns one boolean.
func (d *db) is(ctx context.Context, t sqldb.Tx, query string, args ...any) (truth bool, err error) {
	rows, err := t.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&truth); err != nil {
			return false, err
		}
	}
	return truth, rows.Err()
}

// findIsolation reads the default isolation of the pool's transactions.
func (d *db) findIsolation(ctx context.Context) error {
	return d.Read(ctx, func(t sqldb.Tx) error {
		rows, err := t.Query(ctx, "SHOW default_transaction_isolation")
		if err != nil {
			return err
		}
		defer rows.Close()
		var isolation string
		for rows.Next() {
			if err := rows.Scan(&isolation); err != nil {
				return err
			}
		}
		d.strict = isolation != "read committed"
		return rows.Err()
	})
}

// Portion implements [sqldb.DB].
func (d *db) Portion() int { return 16384 }

// Writers implements [sqldb.DB]. With two, one batch is sent while the other is written
// to disk.
func (d *db) Writers() int {
	if d.strict {
		return 1
	}
	return 2
}

// isUnknownSetting reports whether a transaction did not begin because the database lacks
// one of its settings. CockroachDB does; it plans anew as tables grow.
func isUnknownSetting(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "0A000" || failed.Code == "42704")
}

// collided reports whether a concurrent process created the same schema or table. Both
// then insert into the catalog, and "IF NOT EXISTS" does not prevent the error.
func collided(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "42P07" || failed.Code == "42P06" || failed.Code == "42710" || failed.Code == "23505" && strings.HasPrefix(failed.TableName, "pg_"))
}

// Read implements [sqldb.DB].
func (d *db) Read(ctx context.Context, f func(sqldb.Tx) error) error {
	return d.read(ctx, f, toRead)
}

// ReadOne implements [sqldb.DB]. A query without a transaction saves a round trip. Under
// strict isolation it would be serializable and could make concurrent writes fail, so it
// runs in a read-only transaction there.
func (d *db) ReadOne(ctx context.Context, f func(sqldb.Tx) error) error {
	if d.strict {
		return d.Read(ctx, f)
	}
	return d.read(ctx, f)
}

// read runs f again while its connection is dead or dies. A restarted server leaves a pool
// of dead connections, each of which is detected at its next use. After as many failures
// as the pool has connections, the next connection is a new one.
func (d *db) read(ctx context.Context, f func(sqldb.Tx) error, begin ...string) error {
	for found := 0; ; found++ {
		dead := false
		err := d.retry(ctx, func() error {
			return d.once(ctx, func(t sqldb.Tx) error {
				err := f(t)
				dead = err != nil && isDead(t)
				return err
			}, begin...)
		})
		dead = dead || errors.Is(err, sqldb.ErrUnknown) // the connection died at the end of the transaction
		if err == nil || !dead || found >= d.conns || ctx.Err() != nil {
			return err
		}
	}
}

// isDead reports whether the connection of a transaction is closed.
func isDead(t sqldb.Tx) bool {
	ours, ok := t.(*inTx)
	return ok && ours.IsClosed()
}

// Write implements [sqldb.DB].
func (d *db) Write(ctx context.Context, f func(sqldb.Tx) error) error {
	return d.retry(ctx, func() error { return d.once(ctx, f, d.writing()...) })
}

// writing returns the statements that begin a transaction that writes.
func (d *db) writing() []string {
	if d.plain {
		return []string{toWrite, inTime}
	}
	return []string{toWrite, byIndex}
}

// retry runs once until no concurrent transaction conflicts. Only ctx bounds the
// attempts.
func (d *db) retry(ctx context.Context, once func() error) error {
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := once()
		if !again(err) {
			return err
		}
		wait := time.NewTimer(pause/2 + d.jitter(pause))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return fmt.Errorf("%w; the last try: %w", ctx.Err(), err)
		}
	}
}

// jitter returns a part of pause. Successive results are spread evenly (multiples of the
// golden ratio), so that waiting transactions do not try again at the same time.
func (d *db) jitter(pause time.Duration) time.Duration {
	const golden = 0x9e3779b97f4a7c15                           // of 1<<64
	high, _ := bits.Mul64(d.waits.Add(1)*golden, uint64(pause)) //nolint:gosec // it is positive
	return time.Duration(high)                                  //nolint:gosec // less than pause
}

// again reports whether a transaction was surely rolled back for a reason that a retry
// may cure.
func again(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "40001" || failed.Code == "40P01") // serialization failure, deadlock
}

func (d *db) once(ctx context.Context, f func(sqldb.Tx) error, begin ...string) error {
	began, err := d.begin(ctx, begin...)
	if err != nil {
		return sqldb.Unavailable(ctx, fmt.Errorf("%w: %w", sqldb.ErrAway, err))
	}
	if err := f(&inTx{session: began, names: d.names}); err != nil {
		away := began.IsClosed() || isAway(err)
		rollBack(ctx, began)
		if away {
			return sqldb.Unavailable(ctx, err)
		}
		return err
	}
	// The end of ctx must not interrupt the commit: its outcome would be unknown.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	return outcome(began.Commit(ending))
}

// Script implements [sqldb.DB].
func (d *db) Script(ctx context.Context, t sqldb.Tx, statements string) error {
	_, err := t.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol)
	return err
}
