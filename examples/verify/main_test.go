package main

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// told runs the command and returns its status and all that it printed.
func told(t *testing.T, env string, args ...string) (int, string) {
	t.Helper()
	var out strings.Builder
	code := run(t.Context(), args, func(string) string { return env }, &out, &out)
	return code, out.String()
}

// use settles one call of a cent.
func use(t *testing.T, set store.Set) {
	t.Helper()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cent := router.Amount{Credit: router.Dollar / 100, Total: router.Dollar / 100}
	h := router.Hold{
		ID: uuid.New(), Amount: cent, Deadline: at.Add(time.Minute),
		Lines: []router.Line{
			{Owner: "key:k", Window: "ever"},
			{Owner: "key:k", Window: "2026-11"},
			{Owner: "key:k", Window: "2026-W47"},
			{Owner: "key:k", Window: "2026-11-21"},
			{Owner: "account:a", Window: "ever"},
			{Owner: "account:a", Window: "2026-11"},
			{Owner: "account:a", Window: "2026-W47"},
			{Owner: "account:a", Window: "2026-11-21"},
		},
	}
	require.NoError(t, set.Ledger.Reserve(t.Context(), h))
	recorder, ok := set.Ledger.(router.Recorder)
	require.True(t, ok)
	require.NoError(t, recorder.SettleWith(t.Context(), h.ID, cent, []router.Event{{
		ID: h.ID.String(), Admitted: at, Principal: router.Principal{Account: "a", KeyHash: "k"}, Cost: cent, Requests: 1,
	}}))
}

// folder returns a server's folder, and its database while it is still open.
func folder(t *testing.T) (string, *sql.DB) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "what? a #1 folder%20")
	require.NoError(t, os.Mkdir(dir, 0o700))
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, databaseFile))}).String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(t, err)
	use(t, set)
	return dir, pool
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir, pool := folder(t)
	code, out := told(t, "", "-data", dir) // while the database is in use
	assert.Equal(t, "1 events, 8 lines, 0 open holds: all adds up\n", out)
	assert.Equal(t, exitOK, code)
	_, err := pool.ExecContext(t.Context(), `UPDATE signalbox_lines SET spent_credit = 0 WHERE win = 'ever'`)
	require.NoError(t, err)
	require.NoError(t, pool.Close())
	before := content(t, dir)
	code, out = told(t, "", "-data", dir)
	assert.Equal(t, `spent of owner="account:a" window="ever": stored is credit=0 total=0.01, computed is credit=0.01 total=0.01
spent of owner="key:k" window="ever": stored is credit=0 total=0.01, computed is credit=0.01 total=0.01
1 events, 8 lines, 0 open holds: 2 differences
`, out)
	assert.Equal(t, exitDiffers, code)
	assert.Equal(t, before, content(t, dir), "it may not write")
}

// The write-ahead log that a killed server leaves is verified, too.
func TestFolderAfterACrash(t *testing.T) {
	t.Parallel()
	dir, _ := folder(t)
	left := t.TempDir()
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		bytes, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotEmpty(t, bytes)
		require.NoError(t, os.WriteFile(filepath.Join(left, name), bytes, 0o600))
	}
	code, out := told(t, "", "-data", left)
	assert.Equal(t, "1 events, 8 lines, 0 open holds: all adds up\n", out)
	assert.Equal(t, exitOK, code)
}

func content(t *testing.T, dir string) string {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(dir, databaseFile))
	require.NoError(t, err)
	return string(bytes)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t, pgtest.Config{OwnDatabase: true})
	pool, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	defer pool.Close()
	set, err := postgres.New(t.Context(), pool, postgres.Config{})
	require.NoError(t, err)
	use(t, set)
	code, out := told(t, "", "-postgres", dsn)
	assert.Equal(t, "1 events, 8 lines, 0 open holds: all adds up\n", out)
	assert.Equal(t, exitOK, code)
	// Expire adds the events that are not in the roll-ups yet.
	_, err = set.Ledger.Expire(t.Context(), time.Now(), 1, router.ExpirePost)
	require.NoError(t, err)
	tag, err := pool.Exec(t.Context(), `UPDATE signalbox.usage_by_account SET requests = 2`)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
	code, out = told(t, dsn)
	assert.Contains(t, out, "stored is requests=2, computed is requests=1\n")
	assert.Equal(t, exitDiffers, code)
}

// A mistake is one line without a password.
func TestMistakes(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, databaseFile), []byte("something else entirely, and long enough"), 0o600))
	gone := filepath.Join(empty, "gone")
	for name, tt := range map[string]struct {
		env  string
		args []string
		want string
	}{
		"nothing":           {want: "say what to verify: -data DIR or -postgres DSN"},
		"both":              {args: []string{"-data", "x", "-postgres", "hunter2"}, want: "choose one"},
		"more":              {args: []string{"-data", "x", "hunter2"}, want: "unexpected arguments"},
		"unknown flag":      {args: []string{"-x"}, want: "not defined: -x"},
		"no folder":         {args: []string{"-data", gone}, want: "signalbox.db: no such file"},
		"empty folder":      {args: []string{"-data", empty}, want: "signalbox.db: no such file"},
		"no database":       {args: []string{"-data", foreign}, want: "not a database"},
		"no DSN":            {args: []string{"-postgres", "postgres://u:hunter2@h:x/y"}, want: "the PostgreSQL DSN is neither"},
		"from environment":  {env: "postgres://u:hun ter2@:h:x/%zz", want: "the PostgreSQL DSN is neither"},
		"nobody there":      {args: []string{"-postgres", "postgres://u:hunter2@" + url.PathEscape(empty) + "/y"}, want: "failed to connect"},
		"nobody there, kvs": {args: []string{"-postgres", "user=u password=hunter2 dbname=y host=" + empty}, want: "failed to connect"},
	} {
		code, out := told(t, tt.env, tt.args...)
		assert.Equal(t, exitTrouble, code, name)
		assert.Contains(t, out, tt.want, name)
		assert.Equal(t, 1, strings.Count(out, "\n"), "%s: %s", name, out)
		assert.NotContains(t, out, "hunter2", name)
		assert.NotContains(t, out, "ter2@", name)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	code, out := told(t, "", "-h")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, out, "-postgres DSN")
}

// An interrupted run reports no result.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	dir, _ := folder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	assert.Equal(t, exitTrouble, run(ctx, []string{"-data", dir}, os.Getenv, &out, &out))
}
