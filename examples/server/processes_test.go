package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/pgtest"
)

const askEmbedded = `{"model":"signalbox/similarity-en-1","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`

// keysOf reads a keys file.
func keysOf(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var got map[string]string
	require.NoError(t, json.Unmarshal(data, &got))
	return got
}

func TestTheKeysAreShownOnce(t *testing.T) {
	for name, args := range map[string][]string{
		"data":     {"-data", filepath.Join(t.TempDir(), "data")},
		"postgres": {"-postgres", pgtest.DSN(t, pgtest.Config{OwnDatabase: true})},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{sealingEnv + "=" + testSealingKey}
			keysFile := filepath.Join(t.TempDir(), "keys.json")
			first := startServerWith(t, keysFile, env, args...)
			assert.Contains(t, first.output, first.keys["management_key"])
			assert.Contains(t, first.output, first.keys["inference_key"])
			code, text := first.post(t, first.keys["inference_key"], askEmbedded)
			assert.Equal(t, http.StatusOK, code, text)
			assert.Equal(t, exitOK, first.stop(t, syscall.SIGTERM))

			again := startServerWith(t, keysFile, env, args...)
			assert.NotContains(t, again.output, "sk-rt")
			assert.Contains(t, again.output, "The keys were made and shown at the first start")
			assert.NotContains(t, again.output, "The keys file was not written")
			assert.NotEqual(t, first.keys["base_url"], again.keys["base_url"], "the file has the address of this start")
			assert.Equal(t, first.keys["inference_key"], again.keys["inference_key"])
			assert.Equal(t, first.keys["management_key"], again.keys["management_key"])
			code, text = again.post(t, first.keys["inference_key"], askEmbedded)
			assert.Equal(t, http.StatusOK, code, text)
			require.NoError(t, again.cmd.Process.Kill())
			_ = again.cmd.Wait()

			foreign := filepath.Join(t.TempDir(), "keys.json")
			text = strings.Replace(`{"base_url": "b", "management_key": "sk-rt-v1-x", "inference_key": "KEY"}`, "KEY", first.keys["inference_key"], 1)
			require.NoError(t, os.WriteFile(foreign, []byte(text), 0o600))
			third := startServerWith(t, foreign, env, args...)
			assert.Contains(t, third.output, "The keys file was not written: the keys were made at the first start, and "+foreign)
			assert.Equal(t, "b", keysOf(t, foreign)["base_url"], "a file of other keys is left alone")
			assert.Equal(t, exitOK, third.stop(t, syscall.SIGTERM))
		})
	}
}

func TestADataFolderIsOneProcesss(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "-data", folder)
	info, err := os.Stat(folder)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}

	second := serverCommand(t, nil, "-addr", "127.0.0.1:0", "-data", folder)
	var stdout, stderr bytes.Buffer
	second.Stdout, second.Stderr = &stdout, &stderr
	require.Error(t, second.Run())
	assert.Equal(t, exitUsage, second.ProcessState.ExitCode())
	assert.Equal(t, "server: -data "+folder+": another process uses it\n", stderr.String())
	assert.Empty(t, stdout.String())

	// The lock ends with its process, also after a SIGKILL.
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait()
	keysFile := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(keysFile, []byte(`{"base_url":"","management_key":"`+s.keys["management_key"]+`","inference_key":"`+s.keys["inference_key"]+`"}`), 0o600))
	again := startServerWith(t, keysFile, nil, "-data", folder)
	code, text := again.post(t, s.keys["inference_key"], askEmbedded)
	assert.Equal(t, http.StatusOK, code, text)
	assert.Equal(t, exitOK, again.stop(t, os.Interrupt))
}

func TestManyFirstStartsMakeOneSetOfKeys(t *testing.T) {
	dsn := pgtest.DSN(t, pgtest.Config{OwnDatabase: true})
	const processes = 3
	outputs := make([]bytes.Buffer, processes)
	var group errgroup.Group
	for i := range processes {
		cmd := serverCommand(t, []string{sealingEnv + "=" + testSealingKey, postgresEnv + "=" + dsn}, "-addr", "127.0.0.1:0")
		cmd.Stdout = &stopper{buffer: &outputs[i], stop: func() { _ = cmd.Process.Signal(syscall.SIGTERM) }}
		group.Go(cmd.Run)
	}
	require.NoError(t, group.Wait())
	shown := 0
	for i := range outputs {
		if strings.Contains(outputs[i].String(), "management key") {
			shown++
		} else {
			assert.Contains(t, outputs[i].String(), "The keys were made and shown at the first start")
		}
	}
	assert.Equal(t, 1, shown)
}

// stopper stops a process after its last line of output.
type stopper struct {
	buffer *bytes.Buffer
	stop   func()
}

func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.buffer.Write(p)
	if strings.HasSuffix(s.buffer.String(), "}'\n") {
		s.stop()
	}
	return n, err
}
