package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// pragmas are set on a connection before it writes. Waiting for another process's write
// lock ends after ten seconds. The statement journal stays in memory, and the log is
// checkpointed every 4,000 pages (16 MB): both are rewritten often, for the same few
// pages.
const pragmas = "PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL; " +
	"PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000"

// lock takes the write lock before anything is read. Drivers begin transactions
// deferred, and of two that read first and then write, SQLite refuses one at once,
// whatever the busy timeout.
const lock = "UPDATE {migrations} SET version = version WHERE false"

// patiently tries a hundred times a second, for ten seconds.
const (
	mostTries    = 1000
	betweenTries = 10 * time.Millisecond
)

// db is a database in a pool. Within the process one transaction writes at a time.
type db struct {
	pool   *sql.DB
	names  *sqldb.Names
	writer chan struct{} // holds a token while a transaction writes
	last   any           // the driver's connection that was written to last; guarded by writer

	mu         sync.RWMutex
	statements map[string]*sql.Stmt // by original text; the program has finitely many

	forRows expansions
}

// newDB returns the database in a pool. All names of tables get the prefix.
func newDB(pool *sql.DB, prefix string) *db {
	return &db{pool: pool, names: sqldb.NewNames(`"`+prefix, `"`), writer: make(chan struct{}, 1), statements: make(map[string]*sql.Stmt)}
}

// prepareFile makes the file ready to be written to.
func (d *db) prepareFile(ctx context.Context) error {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, pragmas); err != nil {
		return err
	}
	return keepLog(ctx, conn)
}

// Migrated implements [sqldb.DB].
func (d *db) Migrated(ctx context.Context, t sqldb.Tx) (there bool, err error) {
	name := strings.Trim(d.names.In("{migrations}"), `"`)
	rows, err := t.Query(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1", name)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&there); err != nil {
			return false, err
		}
	}
	return there, rows.Err()
}

// Prepare implements [sqldb.DB]. It cannot use [db.Write], which locks by the table
// that Prepare creates.
func (d *db) Prepare(ctx context.Context) error {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range []string{
		pragmas,
		"CREATE TABLE IF NOT EXISTS {migrations} (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
		"INSERT INTO {migrations} (version, name) VALUES (0, 'none') ON CONFLICT (version) DO NOTHING",
	} {
		if _, err := conn.ExecContext(ctx, d.names.In(statement)); err != nil {
			return err
		}
	}
	return nil
}

var errLog = errors.New("no write-ahead log is possible where the database file is")

// keepLog switches the file to a write-ahead log. SQLite reports no error where it
// cannot, so the result is checked; a database in memory needs no log. While several
// processes switch at once SQLite refuses all but one, whatever the busy timeout.
func keepLog(ctx context.Context, conn *sql.Conn) error {
	var mode, file string
	err := patiently(ctx, func() error { return conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode) })
	if err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file); err != nil {
		return err
	}
	if mode != "wal" && file != "" {
		return errLog
	}
	return nil
}

// patiently repeats f while SQLite refuses it because of another connection's lock.
func patiently(ctx context.Context, f func() error) error {
	for tries := 1; ; tries++ {
		err := f()
		if err == nil || tries == mostTries || !strings.Contains(err.Error(), "locked") {
			return err
		}
		wait := time.NewTimer(betweenTries)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
	}
}

// Read implements [sqldb.DB]. With a write-ahead log no reader waits for a writer. But
// the first connection to a file recovers the log and the last one deletes it, and
// meanwhile SQLite refuses others at once on connections without a busy timeout. A pool
// may open and close connections at any time, so Read repeats what was refused.
func (d *db) Read(ctx context.Context, f func(sqldb.Tx) error) error {
	return patiently(ctx, func() error {
		return d.run(ctx, f, func(*sql.Conn) error { return nil }, func(*tx) error { return nil })
	})
}

// ReadOne implements [sqldb.DB].
func (d *db) ReadOne(ctx context.Context, f func(sqldb.Tx) error) error { return d.Read(ctx, f) }

// Write implements [sqldb.DB].
func (d *db) Write(ctx context.Context, f func(sqldb.Tx) error) error {
	select {
	case d.writer <- struct{}{}:
		defer func() { <-d.writer }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return d.run(ctx, f,
		func(conn *sql.Conn) error { return d.ready(ctx, conn) },
		func(t *tx) error {
			_, err := t.Exec(ctx, lock)
			return err
		})
}

// ready sets the pragmas of a connection, unless it was the last one to be written to.
// A pool does not tell whether a connection is new.
func (d *db) ready(ctx context.Context, conn *sql.Conn) error {
	var now any
	if err := conn.Raw(func(c any) error {
		if t := reflect.TypeOf(c); t != nil && t.Comparable() {
			now = c
		}
		return nil
	}); err != nil {
		return err
	}
	if now != nil && now == d.last {
		return nil
	}
	_, err := conn.ExecContext(ctx, pragmas)
	if err == nil {
		d.last = now
	}
	return err
}

// run runs f in a transaction. It calls before on the connection and begun in the
// transaction.
func (d *db) run(ctx context.Context, f func(sqldb.Tx) error, before func(*sql.Conn) error, begun func(*tx) error) (err error) {
	defer func() { err = markUnavailable(ctx, err) }()
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	t := &tx{db: d}
	defer func() {
		_ = conn.Close()
		d.prepare(ctx, t.new)
	}()
	if err = before(conn); err != nil {
		return err
	}
	// Without WithoutCancel the end of ctx would roll back at any moment, from
	// another goroutine. Each statement looks at ctx itself.
	began, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = began.Rollback()
		}
	}()
	t.tx = began
	if err = begun(t); err != nil {
		return err
	}
	if err = f(t); err != nil {
		return err
	}
	return began.Commit()
}

// Portion implements [sqldb.DB].
func (d *db) Portion() int { return 4096 }

// Writers implements [sqldb.DB].
func (d *db) Writers() int { return 1 }

// Script implements [sqldb.DB].
func (d *db) Script(ctx context.Context, t sqldb.Tx, statements string) error {
	ours, ok := t.(*tx)
	if !ok {
		return errors.New("sqlite: the transaction belongs to another database")
	}
	_, err := ours.tx.ExecContext(ctx, d.names.In(statements))
	return err
}
