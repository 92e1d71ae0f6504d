package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// How transactions begin. Of those that write, a process that sleeps or cannot be
// reached in the middle of one loses it: the rows that it has locked are others'
// as well, and a server would wait hours for it. And they go by indexes only, with
// plans that are made once: one that was made while a table was small, and is
// kept, would otherwise read all of it once it is large.
const (
	toRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	toWrite = "BEGIN"
	inTime  = "SELECT set_config('idle_in_transaction_session_timeout', '10s', true)"
	byIndex = inTime + ", set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), " +
		"set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)"
)

// session is a transaction as it is run: [tx], or one that faults strike.
type session interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
	Commit(ctx context.Context) error
	CommitWith(ctx context.Context, batch *pgx.Batch) error
	Rollback(ctx context.Context) error
	Conn() *pgx.Conn
	IsClosed() bool // the connection
}

// begins returns what begins a transaction on a connection of pool. It begins
// together with its first statement, which is one wait for the server less. With
// nothing to begin it, what it sends is no transaction of several statements.
func begins(pool *pgxpool.Pool) func(ctx context.Context, statements ...string) (session, error) {
	return func(ctx context.Context, statements ...string) (session, error) {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		return &tx{conn: conn, first: statements, alone: len(statements) == 0}, nil
	}
}

// tx is a transaction. It must end with Commit or Rollback.
type tx struct {
	conn  *pgxpool.Conn
	first []string // what is to be sent before the first statement
	alone bool     // there is nothing to end
}

// SendBatch sends statements. The results of those that begin are not among the
// batch's, but their errors are.
func (t *tx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if len(t.first) == 0 {
		return t.conn.SendBatch(ctx, batch)
	}
	whole := &pgx.Batch{}
	for _, statement := range t.first {
		whole.Queue(statement)
	}
	begun := len(t.first)
	t.first = nil
	whole.QueuedQueries = append(whole.QueuedQueries, batch.QueuedQueries...)
	results := t.conn.SendBatch(ctx, whole)
	for range begun {
		if _, err := results.Exec(); err != nil {
			break // each result after it says so, too
		}
	}
	return results
}

// Exec runs one statement.
func (t *tx) Exec(ctx context.Context, query string, args ...any) (done pgconn.CommandTag, err error) {
	if len(t.first) == 0 {
		return t.conn.Exec(ctx, query, args...)
	}
	if len(args) > 0 && args[0] == pgx.QueryExecModeSimpleProtocol { // several statements, which no batch takes
		if err := t.begin(ctx); err != nil {
			return done, err
		}
		return t.conn.Exec(ctx, query, args...)
	}
	batch := &pgx.Batch{}
	batch.Queue(query, args...)
	results := t.SendBatch(ctx, batch)
	done, err = results.Exec()
	return done, cmp.Or(err, results.Close()) // which says the same, if both fail
}

// Query runs one query, whose rows must be closed before the next statement.
func (t *tx) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	if len(t.first) == 0 {
		return t.conn.Query(ctx, query, args...) //nolint:rowserrcheck // as below
	}
	batch := &pgx.Batch{}
	batch.Queue(query, args...)
	results := t.SendBatch(ctx, batch)
	rows, err := results.Query() //nolint:rowserrcheck // whoever reads the rows checks and closes them
	if err != nil {
		_ = results.Close() // it has the same to say
		return nil, err
	}
	return &firstRows{Rows: rows, results: results}, nil
}

func (t *tx) begin(ctx context.Context) error {
	first := t.first
	t.first = nil // whatever becomes of them, there is something to end
	for _, statement := range first {
		if _, err := t.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Commit commits.
func (t *tx) Commit(ctx context.Context) error {
	defer t.conn.Release()
	if t.first != nil || t.alone {
		return nil // nothing was begun
	}
	done, err := t.conn.Exec(ctx, "COMMIT")
	if err == nil && done.String() == "ROLLBACK" {
		return pgx.ErrTxCommitRollback
	}
	return err
}

// CommitWith sends statements and commits, all at once. When it fails
// the transaction is to be rolled back.
func (t *tx) CommitWith(ctx context.Context, batch *pgx.Batch) error {
	batch.Queue("COMMIT").Exec(func(done pgconn.CommandTag) error {
		if done.String() == "ROLLBACK" {
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	err := t.SendBatch(ctx, batch).Close()
	if err == nil {
		t.conn.Release()
	}
	return err
}

// Rollback undoes what was done. A connection that cannot be told is closed, by
// which the server undoes it.
func (t *tx) Rollback(ctx context.Context) error {
	defer t.conn.Release()
	if t.first != nil || t.alone {
		return nil
	}
	_, err := t.conn.Exec(ctx, "ROLLBACK")
	return err
}

// Conn is the connection.
func (t *tx) Conn() *pgx.Conn { return t.conn.Conn() }

// IsClosed says whether the connection is closed, for whatever reason.
func (t *tx) IsClosed() bool { return t.conn.Conn().IsClosed() }

// firstRows are those of a batch of one query.
type firstRows struct {
	pgx.Rows

	results pgx.BatchResults
}

// Close closes the batch as well: what it has to say, Err does.
func (r *firstRows) Close() {
	r.Rows.Close()
	_ = r.results.Close()
}

// inTx is a transaction as the stores see it.
type inTx struct {
	session

	names *sqldb.Names
}

// Exec implements [sqldb.Tx].
func (t *inTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	done, err := t.session.Exec(ctx, t.names.In(query), args...)
	return done.RowsAffected(), err
}

// Query implements [sqldb.Tx].
func (t *inTx) Query(ctx context.Context, query string, args ...any) (sqldb.Rows, error) {
	return t.session.Query(ctx, t.names.In(query), args...) //nolint:rowserrcheck,sqlclosecheck // whoever reads the rows checks and closes them
}
