package postgres

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
)

// A database without the planner's settings is used without them.
func TestDatabaseWithoutSettings(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	refused := 0
	d := newDB(pool, pgtest.Schema(pool))
	d.begin = func(ctx context.Context, statements ...string) (session, error) {
		if slices.Contains(statements, byIndex) {
			refused++
			return nil, &pgconn.PgError{Code: "0A000", Message: `the configuration setting "enable_hashjoin" is not supported`}
		}
		return begins(pool)(ctx, statements...)
	}
	require.NoError(t, d.detect(t.Context()))
	require.NoError(t, d.Prepare(t.Context()))
	require.NoError(t, d.Write(t.Context(), func(tx sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE {migrations} SET name = name")
		return err
	}))
	assert.Equal(t, 1, refused)
}

// Above READ COMMITTED two concurrent batches would conflict, so one runs at a time.
func TestWritersByIsolation(t *testing.T) {
	t.Parallel()
	for isolation, want := range map[string]int{"read committed": 2, "repeatable read": 1, "serializable": 1} {
		pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"default_transaction_isolation": isolation}})
		d := newDB(pool, pgtest.Schema(pool))
		require.NoError(t, d.findIsolation(t.Context()))
		assert.Equal(t, want, d.Writers(), isolation)
	}
}

// A single query needs no transaction. Under strict isolation it has one that is read-only
// and not serializable.
func TestOneQueryByIsolation(t *testing.T) {
	t.Parallel()
	for isolation, want := range map[string][]string{
		"read committed": nil, "repeatable read": {toRead}, "serializable": {toRead},
	} {
		pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"default_transaction_isolation": isolation}})
		d := newDB(pool, pgtest.Schema(pool))
		require.NoError(t, d.findIsolation(t.Context()))
		var began []string
		d.begin = func(ctx context.Context, statements ...string) (session, error) {
			began = statements
			return begins(pool)(ctx, statements...)
		}
		require.NoError(t, d.ReadOne(t.Context(), func(tx sqldb.Tx) error {
			rows, err := tx.Query(t.Context(), "SELECT 1")
			if err != nil {
				return err
			}
			defer rows.Close()
			assert.True(t, rows.Next())
			return rows.Err()
		}))
		assert.Equal(t, want, began, isolation)
	}
}

func TestUndone(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"40001": true,  // serialization failure
		"23514": true,  // a deferred constraint
		"40003": false, // statement completion unknown
		"57P01": false, // the server shuts down
		"08006": false, // the connection is gone
	} {
		assert.Equal(t, want, undone(&pgconn.PgError{Severity: "ERROR", Code: code}), code)
	}
	// The session ended during the commit: the disk was full or could not be synced.
	for _, severity := range []string{"FATAL", "PANIC"} {
		assert.False(t, undone(&pgconn.PgError{Severity: severity, Code: "58030"}))
		assert.False(t, undone(&pgconn.PgError{Severity: "anders", SeverityUnlocalized: severity, Code: "53100"}))
	}
	assert.True(t, undone(pgx.ErrTxCommitRollback))
	assert.False(t, undone(context.DeadlineExceeded))
}

// stuck is a transaction on a server that does not answer.
type stuck struct{ session }

// IsClosed implements session.
func (stuck) IsClosed() bool { return false }

// Rollback implements session.
func (stuck) Rollback(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A rollback on a server that does not answer ends after rollbackTime.
func TestRollbackOfASilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &db{begin: func(context.Context, ...string) (session, error) { return stuck{}, nil }}
		began := time.Now()
		require.ErrorIs(t, d.Write(t.Context(), func(sqldb.Tx) error { return assert.AnError }), assert.AnError)
		assert.Equal(t, rollbackTime, time.Since(began))
	})
}

// The locks of a process that stalls, or cannot be reached, in the middle of a transaction
// are released.
func TestStalledProcess(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	patient := newDB(pool, pgtest.Schema(pool))
	require.NoError(t, patient.Prepare(t.Context()))
	stalls := &db{names: patient.names, begin: func(ctx context.Context, statements ...string) (session, error) {
		for i := range statements {
			statements[i] = strings.Replace(statements[i], "10s", "50ms", 1)
		}
		return begins(pool)(ctx, statements...)
	}}
	locks := func(tx sqldb.Tx) error {
		_, err := tx.Exec(t.Context(), "UPDATE {migrations} SET name = name")
		return err
	}
	locked, over, outcome := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		outcome <- stalls.Write(t.Context(), func(tx sqldb.Tx) error {
			err := locks(tx)
			close(locked)
			<-over
			return err
		})
	}()
	<-locked
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := patient.Write(ctx, locks)
	close(over)
	require.NoError(t, err)
	require.ErrorIs(t, <-outcome, sqldb.ErrUnknown)
}
