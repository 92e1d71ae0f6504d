package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// The statements that begin a transaction. One that writes ends with its connection if
// the process stalls or cannot be reached, because other processes wait for the rows that
// it has locked; otherwise a server would wait for hours. It uses indexes only, by plans
// that are made once: a plan made while a table was small would later read the whole
// table.
const (
	toRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	toWrite = "BEGIN"
	inTime  = "SELECT set_config('idle_in_transaction_session_timeout', '10s', true)"
	byIndex = inTime + ", set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true), " +
		"set_config('enable_mergejoin', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)"
)

// session is a transaction: a [tx], or in tests one that injects faults.
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

// begins returns the function that begins transactions on connections of pool. The
// statements that begin a transaction are sent together with its first statement, which
// saves a round trip. Without statements no transaction is begun, and each statement that
// is sent stands alone.
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
	first []string // to send before the first statement; nil once sent
	alone bool     // no transaction was begun
}

// SendBatch sends a batch. The results do not include those of the statements that begin
// the transaction, but their errors do.
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
			break // every later result has the same error
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
	return done, cmp.Or(err, results.Close()) // both errors are the same
}

// Query runs one query, whose rows must be closed before the next statement.
func (t *tx) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	if len(t.first) == 0 {
		return t.conn.Query(ctx, query, args...) //nolint:rowserrcheck // as below
	}
	batch := &pgx.Batch{}
	batch.Queue(query, args...)
	results := t.SendBatch(ctx, batch)
	rows, err := results.Query() //nolint:rowserrcheck // the caller checks and closes the rows
	if err != nil {
		_ = results.Close() // has the same error
		return nil, err
	}
	return &firstRows{Rows: rows, results: results}, nil
}

func (t *tx) begin(ctx context.Context) error {
	first := t.first
	t.first = nil // also after an error: there may be a transaction to end
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

// CommitWith sends a batch with the commit. After an error the caller must roll back.
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

// Rollback rolls the transaction back. If the server cannot be told, the connection is
// closed, which has the same effect.
func (t *tx) Rollback(ctx context.Context) error {
	defer t.conn.Release()
	if t.first != nil || t.alone {
		return nil
	}
	_, err := t.conn.Exec(ctx, "ROLLBACK")
	return err
}

// Conn returns the connection.
func (t *tx) Conn() *pgx.Conn { return t.conn.Conn() }

// IsClosed reports whether the connection is closed.
func (t *tx) IsClosed() bool { return t.conn.Conn().IsClosed() }

// firstRows is the result of a batch of one query.
type firstRows struct {
	pgx.Rows

	results pgx.BatchResults
}

// Close closes the rows and the batch. Err reports the error of both.
func (r *firstRows) Close() {
	r.Rows.Close()
	_ = r.results.Close()
}

// inTx is a session as [sqldb.Tx].
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
	return t.session.Query(ctx, t.names.In(query), args...) //nolint:rowserrcheck,sqlclosecheck // the caller checks and closes the rows
}
