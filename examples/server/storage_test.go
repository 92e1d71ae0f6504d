package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMistakesOfStorageAreOneLine(t *testing.T) {
	folder := func(t *testing.T, files map[string]string) string {
		t.Helper()
		path := t.TempDir()
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(path, name), []byte(text), 0o600))
		}
		return path
	}
	sealed := map[string]string{sealingEnv: testSealingKey}
	const password = "hunter2"
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		code int
		want string
	}{
		"both":            {[]string{"-data", "x", "-postgres", "y"}, nil, exitUsage, "-data and -postgres both say"},
		"both, variable":  {[]string{"-data", "x"}, map[string]string{postgresEnv: "y"}, exitUsage, "-data and SIGNALBOX_POSTGRES both say"},
		"leases, memory":  {[]string{"-leases"}, nil, exitUsage, "-leases is for several processes on PostgreSQL: -postgres or SIGNALBOX_POSTGRES says where"},
		"leases, folder":  {[]string{"-leases", "-data", "x"}, nil, exitUsage, "-leases is for several processes on PostgreSQL"},
		"no folder":       {[]string{"-data", ""}, nil, exitUsage, "-data: is empty"},
		"no DSN":          {[]string{"-postgres", ""}, nil, exitUsage, "-postgres: is empty"},
		"a file":          {[]string{"-data", "main.go"}, nil, exitUsage, "-data main.go: not a directory"},
		"in a file":       {[]string{"-data", "main.go/data"}, nil, exitUsage, "-data main.go/data: not a directory"},
		"lost key":        {[]string{"-data", folder(t, map[string]string{databaseFile: ""})}, nil, exitUsage, "sealing.key is missing"},
		"spoilt key":      {[]string{"-data", folder(t, map[string]string{sealingFile: password})}, nil, exitUsage, "sealing.key is not 64 hex digits"},
		"no database":     {[]string{"-data", folder(t, map[string]string{databaseFile: "no database at all", sealingFile: testSealingKey})}, nil, exitFailed, "not a database"},
		"no sealing key":  {[]string{"-postgres", "postgres://u:hunter2@127.0.0.1:1/x"}, nil, exitUsage, "needs SIGNALBOX_SEALING_KEY"},
		"bad sealing key": {[]string{"-postgres", "x=y"}, map[string]string{sealingEnv: password}, exitUsage, "SIGNALBOX_SEALING_KEY is not 64 hex digits"},
		"DSN":             {[]string{"-postgres", password}, sealed, exitUsage, "the PostgreSQL DSN is neither"},
		"DSN, variable":   {nil, map[string]string{sealingEnv: testSealingKey, postgresEnv: "postgres://u:hunter2@[::1/x"}, exitUsage, "the PostgreSQL DSN is neither"},
		"nobody there":    {[]string{"-postgres", "postgres://u:hunter2@127.0.0.1:1,127.0.0.1:2/x?sslmode=prefer"}, sealed, exitFailed, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(t.Context(), append([]string{"-addr", "127.0.0.1:0"}, c.args...), func(name string) string { return c.env[name] }, &stdout, &stderr)
			assert.Equal(t, c.code, code)
			assert.Contains(t, stderr.String(), c.want)
			assert.True(t, strings.HasPrefix(stderr.String(), "server: "))
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			assert.NotContains(t, stderr.String(), password)
			assert.Empty(t, stdout.String())
		})
	}
}

func TestANewerSchemaIsAMistake(t *testing.T) {
	durable(t, func(t *testing.T, o options, env func(string) string) {
		t.Helper()
		kept, err := openStorage(t.Context(), o, env)
		require.NoError(t, err)
		require.NoError(t, kept.close())
		const later = "migrations (version, name) VALUES (9999, 'later')"
		if o.data != "" {
			pool, err := openDatabase(filepath.Join(o.data, databaseFile))
			require.NoError(t, err)
			_, err = pool.ExecContext(t.Context(), "INSERT INTO signalbox_"+later)
			require.NoError(t, err)
			require.NoError(t, pool.Close())
		} else {
			pool, err := pgxpool.New(t.Context(), o.postgres)
			require.NoError(t, err)
			_, err = pool.Exec(t.Context(), "INSERT INTO signalbox."+later)
			require.NoError(t, err)
			pool.Close()
		}
		_, err = openStorage(t.Context(), o, env)
		var m mistake
		require.ErrorAs(t, err, &m)
		assert.ErrorContains(t, err, "newer than this program")
	})
}

func TestTheSealingKeyAppearsWholeAndOnce(t *testing.T) {
	folder := t.TempDir()
	key, err := readSealingKey(folder)
	require.NoError(t, err)
	assert.Len(t, key, 32)
	again, err := readSealingKey(folder)
	require.NoError(t, err)
	assert.Equal(t, key, again)
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Len(t, files, 1, "nothing else is left")
	info, err := files[0].Info()
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	other, err := readSealingKey(t.TempDir())
	require.NoError(t, err)
	assert.NotEqual(t, key, other)
}
