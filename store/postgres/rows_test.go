package postgres

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
)

// numbered creates a table of rows with ids from 0 to 4 and notes.
func numbered(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	_, err := pool.Exec(t.Context(), `CREATE TABLE noted (id bigint PRIMARY KEY, note text);
		INSERT INTO noted (id, note) VALUES (0, ''), (1, ''), (2, ''), (3, ''), (4, '')`, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
}

func notes(t *testing.T, pool *pgxpool.Pool) (all string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT string_agg(coalesce(note, '-'), ',' ORDER BY id) FROM noted").Scan(&all))
	return all
}

func note(changed int64, text any, ids ...int64) sqldb.RowsStatement {
	s := sqldb.RowsStatement{
		Text: "UPDATE noted SET note = n.note FROM {n} WHERE noted.id = n.id", Columns: []string{"id bigint", "note text"}, Changed: changed,
	}
	for _, id := range ids {
		s.Rows = append(s.Rows, []any{id, text})
	}
	return s
}

// In every query mode, WriteRows takes effect when each statement changed the rows that it
// must, and not at all otherwise.
func TestWriteRows(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"default_query_exec_mode": mode, "pool_max_conns": "1"}})
			numbered(t, pool)
			d := newDB(pool, pgtest.Schema(pool))
			var missing *string
			require.NoError(t, d.WriteRows(t.Context(), note(2, "a", 0, 1), note(-1, "b", 2, 7), note(0, "c"), note(1, missing, 4)))
			assert.Equal(t, "a,a,b,,-", notes(t, pool))
			require.NoError(t, d.WriteRows(t.Context()))
			for _, changed := range []int64{0, 1, 3} {
				require.ErrorIs(t, d.WriteRows(t.Context(), note(1, "d", 3), note(changed, "d", 0, 7, 1), note(1, "d", 4)), sqldb.ErrChanged)
			}
			require.ErrorContains(t, d.WriteRows(t.Context(), note(1, "d", 3), note(1, 5, 4)), "does not have the type of its column: note text")
			require.Error(t, d.WriteRows(t.Context(), note(1, "d", 3), note(1, "\x00", 4)))
			assert.Equal(t, "a,a,b,,-", notes(t, pool))
			gone, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, d.WriteRows(gone, note(1, "d", 3)), context.Canceled)
			assert.Equal(t, "a,a,b,,-", notes(t, pool))
		})
	}
}

// A transaction that waits for a row of WriteRows does not wait for another round trip of
// this process, because the commit is sent with the statements.
func TestWriteRowsAreSentWithTheirCommit(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	numbered(t, pool)
	d := newDB(pool, pgtest.Schema(pool))
	begin := d.begin
	d.begin = func(ctx context.Context, statements ...string) (session, error) {
		began, err := begin(ctx, statements...)
		return onlyCommitsWith{began, t}, err
	}
	require.NoError(t, d.WriteRows(t.Context(), note(2, "a", 0, 1), note(1, "b", 2)))
	assert.Equal(t, "a,a,b,,", notes(t, pool))
}

// onlyCommitsWith is a transaction that accepts a single batch with its commit.
type onlyCommitsWith struct {
	session

	t *testing.T
}

func (o onlyCommitsWith) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults {
	o.t.Error("statements without their commit")
	return nil
}

func (o onlyCommitsWith) Commit(context.Context) error {
	o.t.Error("a commit by itself")
	return nil
}

// Conflicting calls of WriteRows are retried, on any connection.
func TestWriteRowsAmongRivals(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"default_transaction_isolation": "serializable", "pool_max_conns": "4"}})
	numbered(t, pool)
	d := newDB(pool, pgtest.Schema(pool))
	more := note(1, "a", 0)
	more.Text = "UPDATE noted SET note = noted.note || n.note FROM {n} WHERE noted.id = n.id"
	var rivals sync.WaitGroup
	for range 4 {
		rivals.Go(func() {
			for range 20 {
				assert.NoError(t, d.WriteRows(t.Context(), more, note(1, "b", 1)))
			}
		})
	}
	rivals.Wait()
	assert.Equal(t, strings.Repeat("a", 80)+",b,,,", notes(t, pool))
}

// When the connection breaks during WriteRows, the outcome is unknown.
func TestWriteRowsCutOff(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Config{})
	numbered(t, pool)
	rival, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = rival.Exec(t.Context(), "UPDATE noted SET note = note WHERE id = 1")
	require.NoError(t, err)
	written := make(chan error, 1)
	go func() {
		written <- newDB(pool, pgtest.Schema(pool)).WriteRows(t.Context(), note(1, "a", 0), note(1, "a", 1))
	}()
	require.Eventually(t, func() (cut bool) {
		err := rival.QueryRow(t.Context(), `SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_locks
			WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`).Scan(&cut)
		return err == nil && cut
	}, 10*time.Second, time.Millisecond)
	require.ErrorIs(t, <-written, sqldb.ErrUnknown)
	require.NoError(t, rival.Rollback(t.Context()))
	assert.Equal(t, ",,,,", notes(t, pool))
}
