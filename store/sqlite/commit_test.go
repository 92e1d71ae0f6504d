package sqlite_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/sqlite"
)

// After a commit that SQLite refuses, the connection has no open transaction: the driver
// rolls back.
func TestWriteAfterARefusedCommit(t *testing.T) {
	t.Parallel()
	pool := open(t, ":memory:")
	pool.SetMaxOpenConns(1)
	_, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	db := sqlite.DB(pool)
	_, err = pool.ExecContext(t.Context(), `PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY);
		CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`)
	require.NoError(t, err)
	insert := func(text string) error {
		return db.Write(t.Context(), func(tx sqldb.Tx) error {
			_, err := tx.Exec(t.Context(), text)
			return err
		})
	}
	require.Error(t, insert("INSERT INTO children VALUES (1)"))
	require.NoError(t, insert("INSERT INTO parents VALUES (2)"))
	require.NoError(t, insert("INSERT INTO children VALUES (2)"))
	var children int
	require.NoError(t, pool.QueryRowContext(t.Context(), "SELECT count(*) FROM children").Scan(&children))
	assert.Equal(t, 1, children)
}

// A ledger continues after its database was replaced by a restored one.
func TestLedgerOfARestoredDatabase(t *testing.T) {
	t.Parallel()
	pool := open(t, ":memory:")
	pool.SetMaxOpenConns(1)
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	hold := func(n byte) router.Hold {
		return router.Hold{
			ID: [16]byte{n}, Lines: []router.Line{{Owner: "a", Window: "ever"}}, Amount: router.Amount{Credit: 1, Total: 1},
			Deadline: noon(),
		}
	}
	require.NoError(t, set.Ledger.Reserve(t.Context(), hold(1)))
	_, err = pool.ExecContext(t.Context(), "DELETE FROM signalbox_holds; DELETE FROM signalbox_lines")
	require.NoError(t, err)
	require.NoError(t, set.Ledger.Reserve(t.Context(), hold(2)))
	list, err := set.Ledger.Balances(t.Context(), hold(2).Lines)
	require.NoError(t, err)
	assert.Equal(t, []router.Balance{{Held: router.Amount{Credit: 1, Total: 1}}}, list)
}
