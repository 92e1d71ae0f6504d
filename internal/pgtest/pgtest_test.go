package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is also the main function of child processes. The environment names their part.
func TestMain(m *testing.M) {
	switch os.Getenv("PGTEST_CHILD") {
	case "absent":
		shared.find = func() (string, error) { return "", errors.New("nothing here") }
	case "broken":
		shared.find = func() (string, error) { return "/nowhere", nil }
	case "closed":
		m.Run()
		return
	case "hang":
		hang()
		return
	}
	Main(m)
}

// hang starts a server, prints its address, and waits to be killed.
func hang() {
	shared.open()
	fmt.Println(shared.private(false))
	select {}
}

// child returns a command that runs this test program with a part, without a server in its
// environment.
func child(t *testing.T, part string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), "PGTEST_CHILD="+part, "SIGNALBOX_TEST_POSTGRES=", "SIGNALBOX_TEST_NOSKIP=")
	return cmd
}

func TestSchemasAreSeparate(t *testing.T) {
	a, b := Pool(t, Config{}), Pool(t, Config{})
	_, err := a.Exec(t.Context(), "CREATE TABLE x (id int)")
	require.NoError(t, err)
	var found bool
	require.NoError(t, b.QueryRow(t.Context(), "SELECT to_regclass('x') IS NOT NULL").Scan(&found))
	assert.False(t, found)
	require.NoError(t, a.QueryRow(t.Context(), "SELECT to_regclass('x') IS NOT NULL").Scan(&found))
	assert.True(t, found)
}

func TestSchemaIsDroppedWithTheSessionsLeftInIt(t *testing.T) {
	_ = DSN(t, Config{}) // skips where there is no server
	var dsn string
	t.Run("a test", func(t *testing.T) {
		dsn = DSN(t, Config{})
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE x (id int); BEGIN; LOCK TABLE x")
		require.NoError(t, err)
	})
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	var left int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace
		WHERE nspname = current_setting('search_path')`).Scan(&left))
	assert.Zero(t, left)
	assert.NoError(t, conn.Close(t.Context()))
}

func TestSettingsHoldForEverySession(t *testing.T) {
	dsn := DSN(t, Config{Settings: map[string]string{"default_transaction_isolation": "serializable"}})
	for range 2 {
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		var level string
		require.NoError(t, conn.QueryRow(t.Context(), "SHOW transaction_isolation").Scan(&level))
		assert.Equal(t, "serializable", level)
		require.NoError(t, conn.Close(t.Context()))
	}
}

func TestSyncedServerSyncs(t *testing.T) {
	var fsync, commit, pages string
	require.NoError(t, Pool(t, Config{Synced: true}).QueryRow(t.Context(), `SELECT current_setting('fsync'),
		current_setting('synchronous_commit'), current_setting('full_page_writes')`).Scan(&fsync, &commit, &pages))
	assert.Equal(t, []string{"on", "on", "on"}, []string{fsync, commit, pages})
}

func TestServerThatDoesNotSyncIsNoSyncedOne(t *testing.T) {
	server := shared.server(t, false)
	if os.Getenv("SIGNALBOX_TEST_POSTGRES") != "" {
		server = unsynced(t, server)
	}
	require.ErrorContains(t, create(t.Context(), server, "never", Config{Synced: true}), "does not sync")
}

// unsynced returns the address of a server, with sessions that do not wait for the disk.
func unsynced(t *testing.T, server string) string {
	t.Helper()
	dsn, err := with(server, map[string]string{"synchronous_commit": "off"})
	require.NoError(t, err)
	return dsn
}

func TestServerFromTheEnvironment(t *testing.T) {
	named := DSN(t, Config{Synced: true}) // not the server that Pool would start below
	t.Setenv("SIGNALBOX_TEST_POSTGRES", named)
	conn, err := pgx.Connect(t.Context(), named)
	require.NoError(t, err)
	var want, got string
	require.NoError(t, conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&want))
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, Pool(t, Config{}).QueryRow(t.Context(), "SHOW data_directory").Scan(&got))
	assert.Equal(t, want, got)
}

func TestWith(t *testing.T) {
	settings := map[string]string{"application_name": `it's a \ test`}
	for _, dsn := range []string{
		"postgres://me:secret@db.test:5433/mine?sslmode=disable&options=a+b",
		"postgresql://me:secret@db.test:5433/?dbname=mine&sslmode=disable&options=a+b",
		"host=db.test port=5433 user=me password=secret dbname=mine sslmode=disable options=a+b",
	} {
		t.Run(dsn, func(t *testing.T) {
			got, err := with(dsn, settings)
			require.NoError(t, err)
			conf, err := pgx.ParseConfig(got)
			require.NoError(t, err)
			assert.Equal(t, []any{"db.test", uint16(5433), "me", "secret", "mine"},
				[]any{conf.Host, conf.Port, conf.User, conf.Password, conf.Database})
			assert.Equal(t, map[string]string{"application_name": `it's a \ test`, "options": "a+b"}, conf.RuntimeParams)
		})
	}
	_, err := with("postgres://me:sec%ret@db.test/", nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "ret")
}

func TestNewest(t *testing.T) {
	got, ok := newest([]string{"/pg/9.6/bin", "/pg/15/bin", "/pg/9/bin"})
	assert.True(t, ok)
	assert.Equal(t, "/pg/15/bin", got)
	_, ok = newest(nil)
	assert.False(t, ok)
}

func TestWithoutAServer(t *testing.T) {
	for _, c := range []struct{ part, noskip, want, reason string }{
		{"absent", "", "--- SKIP", "nothing here"},
		{"absent", "1", "--- FAIL", "nothing here"},
		{"broken", "", "--- SKIP", "/nowhere/initdb"},
		{"broken", "1", "--- FAIL", "/nowhere/initdb"},
		{"closed", "", "--- FAIL", "TestMain does not call pgtest.Main"},
	} {
		t.Run(c.part+" and NOSKIP="+c.noskip, func(t *testing.T) {
			cmd := child(t, c.part, "-test.v", "-test.run=^TestSchemasAreSeparate$")
			cmd.Env = append(cmd.Env, "SIGNALBOX_TEST_NOSKIP="+c.noskip)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, c.want == "--- FAIL", err != nil, "%v", err)
			assert.Contains(t, string(out), c.want)
			assert.Contains(t, string(out), c.reason)
		})
	}
}

// TestServerEndsWithItsProcess kills a process that owns a server. Everything that the process
// started inherits the writing end of a pipe. So the pipe reaches its end when, and only when,
// all of it has ended.
func TestServerEndsWithItsProcess(t *testing.T) {
	shared.server(t, false) // or a skip
	alive, inherited, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, alive.Close()) })
	cmd := child(t, "hang")
	cmd.ExtraFiles = []*os.File{inherited, inherited} // the script uses the first number itself
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, inherited.Close())

	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	dsn, _, _ := strings.Cut(line, " ")
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	require.DirExists(t, u.Query().Get("host"))

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.NoError(t, alive.SetReadDeadline(time.Now().Add(patience)))
	_, err = io.ReadAll(alive)
	require.NoError(t, err, "something outlives the process")
	assert.NoDirExists(t, u.Query().Get("host"))
	require.Error(t, conn.Ping(context.WithoutCancel(t.Context())))
}
