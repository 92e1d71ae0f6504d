package pgtest

import (
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// However a server dies, its sessions end and new ones are refused until it is restarted.
// Afterwards all commits are there.
func TestMortalServer(t *testing.T) {
	var home string
	t.Run("a test", func(t *testing.T) {
		m := NewMortal(t, Config{Synced: true, Settings: map[string]string{"default_transaction_isolation": "serializable"}})
		u, err := url.Parse(m.DSN())
		require.NoError(t, err)
		home = u.Query().Get("host")
		require.NoError(t, run(t.Context(), m.DSN(), "CREATE TABLE x (n int)"))
		for n, die := range []func(testing.TB){m.Crash, m.Kill, m.Kill, m.Crash} {
			conn, err := pgx.Connect(t.Context(), m.DSN())
			require.NoError(t, err)
			var level string
			require.NoError(t, conn.QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&level))
			assert.Equal(t, "serializable", level)
			_, err = conn.Exec(t.Context(), "INSERT INTO x VALUES ($1)", n)
			require.NoError(t, err)
			die(t)
			for err == nil { // the session's process may not have noticed yet
				_, err = conn.Exec(t.Context(), "SELECT 1")
			}
			require.Error(t, run(t.Context(), m.DSN(), "SELECT 1"))
			m.Start(t)
			conn, err = pgx.Connect(t.Context(), m.DSN())
			require.NoError(t, err)
			var rows, sum int
			require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*), sum(n) FROM x").Scan(&rows, &sum))
			assert.Equal(t, []int{n + 1, n * (n + 1) / 2}, []int{rows, sum})
			require.NoError(t, conn.Close(t.Context()))
		}
		m.Kill(t) // not restarted
	})
	if home != "" {
		assert.NoDirExists(t, home)
	}
}
