package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// longestPause is between two tries of a transaction that others stood in the
// way of.
const longestPause = 200 * time.Millisecond

// commitTime is what a commit may take, whoever has stopped waiting for it.
const commitTime = 10 * time.Second

// rollbackTime is what the server gets to undo a transaction. After that the
// connection is closed, and it does so when it sees that.
const rollbackTime = 5 * time.Second

// db is a pool of connections.
type db struct {
	schema string
	names  *sqldb.Names
	begin  func(ctx context.Context, statements ...string) (session, error)
	conns  int  // of the pool, at most
	plain  bool // the database does not know the settings of byIndex
	alone  bool // of transactions that change one row at once, all but one fail
	waits  atomic.Uint64
	texts  sync.Map // of statements, with their rows, by [statement]
	typed  bool     // arguments are sent as the server has described them
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

// detect finds out what the database knows, and how the pool keeps its
// transactions apart.
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

// mostRivals is how often a schema is made anew because a rival made it at the same
// instant. After that something else is in the way, such as a type of a table's name.
const mostRivals = 20

// Prepare implements [sqldb.DB]. The schema may have been made by somebody else,
// for a role that may create tables in it and no schemas.
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

// is runs a query of one truth value.
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

// findIsolation finds out how transactions are kept apart that the pool begins.
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
		d.alone = isolation != "read committed"
		return rows.Err()
	})
}

// Portion implements [sqldb.DB].
func (d *db) Portion() int { return 16384 }

// Writers implements [sqldb.DB]: while one batch is written to the disk, the
// next one is on its way.
func (d *db) Writers() int {
	if d.alone {
		return 1
	}
	return 2
}

// isUnknownSetting says whether a transaction did not begin because the database
// has no such setting: CockroachDB, which plans anew as tables grow.
func isUnknownSetting(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "0A000" || failed.Code == "42704")
}

// collided says whether a rival made the same schema or table at the same instant: both
// then write to the catalog, whatever "IF NOT EXISTS" says.
func collided(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failed.Code == "42P07" || failed.Code == "42P06" || failed.Code == "42710" || failed.Code == "23505" && strings.HasPrefix(failed.TableName, "pg_"))
}

// Read implements [sqldb.DB].
func (d *db) Read(ctx context.Context, f func(sqldb.Tx) error) error {
	return d.read(ctx, f, toRead)
}

// ReadOne implements [sqldb.DB]. A query without a transaction is one wait for
// the server less; but where the pool's are serializable, those that write would
// be kept apart from it, too, and fail for it.
func (d *db) ReadOne(ctx context.Context, f func(sqldb.Tx) error) error {
	if d.alone {
		return d.Read(ctx, f)
	}
	return d.read(ctx, f)
}

// read runs f again while its connection turns out to be dead, or dies: a server
// that was started anew leaves a pool of dead ones, and each is found out when it
// is used. So many fail at most; the next one is new.
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
		dead = dead || errors.Is(err, sqldb.ErrUnknown) // it died when all was read
		if err == nil || !dead || found >= d.conns || ctx.Err() != nil {
			return err
		}
	}
}

// isDead says whether the connection of a transaction is closed, for whatever
// reason.
func isDead(t sqldb.Tx) bool {
	ours, ok := t.(*inTx)
	return ok && ours.IsClosed()
}

// Write implements [sqldb.DB].
func (d *db) Write(ctx context.Context, f func(sqldb.Tx) error) error {
	return d.retry(ctx, func() error { return d.once(ctx, f, d.writing()...) })
}

// writing is how transactions begin that write.
func (d *db) writing() []string {
	if d.plain {
		return []string{toWrite, inTime}
	}
	return []string{toWrite, byIndex}
}

// retry runs once until nobody stood in its way. There is no last try: the time is
// the caller's to limit.
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

// jitter spreads those who wait over a pause: each one's share is far from those
// of the ones before (the golden ratio's multiples).
func (d *db) jitter(pause time.Duration) time.Duration {
	const golden = 0x9e3779b97f4a7c15                           // of 1<<64
	high, _ := bits.Mul64(d.waits.Add(1)*golden, uint64(pause)) //nolint:gosec // it is positive
	return time.Duration(high)                                  //nolint:gosec // less than pause
}

// again says whether a transaction failed, and surely so, for a reason that is
// gone when it is tried again.
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
	// Who goes away now would not know what happened.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	return outcome(began.Commit(ending))
}

// rollBack undoes a transaction. The server does it at the latest when the
// connection closes.
func rollBack(ctx context.Context, began session) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_ = began.Rollback(ending)
}

// outcome is what a commit has come to.
func outcome(err error) error {
	if err == nil || undone(err) {
		return err
	}
	return fmt.Errorf("%w: %w", sqldb.ErrUnknown, err)
}

// undone says whether a commit failed and surely nothing of it stays: the server
// said so, and not because it was about to go, whatever for (a log that cannot be
// synced is one, too), nor that it does not know either (40003, of CockroachDB).
func undone(err error) bool {
	failed, told := errors.AsType[*pgconn.PgError](err)
	return errors.Is(err, pgx.ErrTxCommitRollback) || told && !isLast(failed) &&
		!strings.HasPrefix(failed.Code, "57") && !strings.HasPrefix(failed.Code, "08") && failed.Code != "40003"
}

// isLast says whether a session ended with an error.
func isLast(failed *pgconn.PgError) bool {
	severity := cmp.Or(failed.SeverityUnlocalized, failed.Severity)
	return severity == "FATAL" || severity == "PANIC"
}

// isAway reports whether the server cannot serve at the moment: it starts or shuts
// down, has no connection or disk space left, or has become a standby.
func isAway(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (isLast(failed) || failed.Code == "25006" || slices.Contains([]string{"08", "53", "57", "58"}, failed.Code[:min(2, len(failed.Code))]))
}

// Script implements [sqldb.DB].
func (d *db) Script(ctx context.Context, t sqldb.Tx, statements string) error {
	_, err := t.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol)
	return err
}
