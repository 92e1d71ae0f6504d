package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for what should happen at once. It is long because
// the machine may be busy.
const patience = time.Minute

// victim is a server process that a test kills.
type victim struct {
	cmd    *exec.Cmd
	base   chan string // gets the base URL when it listens, and is closed when it ends
	stderr strings.Builder
}

// launch starts a server and does not wait for it.
func launch(t *testing.T, env []string, args ...string) *victim {
	t.Helper()
	v := &victim{cmd: serverCommand(t, env, append([]string{"-addr", "127.0.0.1:0"}, args...)...), base: make(chan string, 1)}
	v.cmd.Stderr = &v.stderr
	stdout, err := v.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, v.cmd.Start())
	t.Cleanup(func() { _ = v.cmd.Process.Kill() })
	go func() { // it ends with the process
		defer close(v.base)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if base, ok := strings.CutPrefix(lines.Text(), "Signalbox listens on "); ok {
				v.base <- base
			}
		}
	}()
	return v
}

// listening waits until the server prints its base URL. It returns "" if the moment
// comes first; a nil moment never comes.
func (v *victim) listening(t *testing.T, moment <-chan time.Time) string {
	t.Helper()
	select {
	case base, ok := <-v.base:
		if !ok {
			_ = v.cmd.Wait()
			require.Fail(t, "the server did not start", v.stderr.String())
		}
		return base
	case <-moment:
	case <-time.After(patience):
		require.Fail(t, "the server does not start")
	}
	return ""
}

// kill sends the process a SIGKILL.
func (v *victim) kill(t *testing.T) {
	t.Helper()
	err := v.end(t, syscall.SIGKILL)
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(t, ok, "it ended by itself: %v\n%s", err, &v.stderr)
	status, ok := exit.Sys().(syscall.WaitStatus)
	assert.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "it ended by itself: %v\n%s", err, &v.stderr)
}

// stop lets the process shut down and waits for it.
func (v *victim) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, v.end(t, syscall.SIGTERM), &v.stderr)
}

func (v *victim) end(t *testing.T, signal os.Signal) error {
	t.Helper()
	if err := v.cmd.Process.Signal(signal); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	for range v.base { // drain it first, because Wait closes the pipe
	}
	return v.cmd.Wait()
}

// keysIn reads a keys file; ok reports whether there is one.
func keysIn(t *testing.T, path string) (f keysFile, ok bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return f, false
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &f), "a keys file appears whole or not at all")
	return f, true
}
