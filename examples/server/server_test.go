package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/pgtest"
)

// serverArgs names the environment variable that makes the test binary run the server.
const serverArgs = "SIGNALBOX_TEST_SERVER_ARGS"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(serverArgs); ok {
		os.Args = append(os.Args[:1], strings.Split(args, "\n")...)
		main()
		return
	}
	pgtest.Main(m)
}

// running is a server process that listens.
type running struct {
	cmd    *exec.Cmd
	output string // what it printed, up to the end of the curl command
	keys   map[string]string
}

// startServer runs the real main in a process of its own.
func startServer(t *testing.T, args ...string) *running {
	t.Helper()
	return startServerWith(t, filepath.Join(t.TempDir(), "keys.json"), nil, args...)
}

// serverCommand returns a command that runs the real main, with more in its
// environment.
func serverCommand(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), serverArgs+"="+strings.Join(args, "\n")), env...)
	return cmd
}

// startServerWith runs a server with a keys file and more in its environment.
func startServerWith(t *testing.T, keysFile string, env []string, args ...string) *running {
	t.Helper()
	cmd := serverCommand(t, env, append([]string{"-addr", "127.0.0.1:0", "-keys-file", keysFile}, args...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = io.Discard
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	s := &running{cmd: cmd}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		s.output += lines.Text() + "\n"
		if strings.HasSuffix(lines.Text(), "}'") {
			break
		}
	}
	require.Contains(t, s.output, "curl")
	info, err := os.Stat(keysFile)
	require.NoError(t, err, "the keys file is there once the server listens")
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	data, err := os.ReadFile(keysFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &s.keys))
	return s
}

// stop sends a signal and returns the exit status.
func (s *running) stop(t *testing.T, sig os.Signal) int {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(sig))
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

func (s *running) post(t *testing.T, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.keys["base_url"]+"/systemone", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

func TestTheCurlCommandWorksWhenPasted(t *testing.T) {
	s := startServer(t)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/api/v1$`, s.keys["base_url"])
	assert.Len(t, s.keys, 3)
	_, command, _ := strings.Cut(s.output, "Try it:\n\n")

	// Every word of the command but the address is quoted with ', so it can be split here.
	// Another test runs it in a shell with curl, where both are installed.
	words := regexp.MustCompile(`(?s)'([^']*)'`).FindAllStringSubmatch(command, -1)
	require.Len(t, words, 3)
	assert.Equal(t, "Authorization: Bearer "+s.keys["inference_key"], words[0][1])
	status, reply := s.post(t, s.keys["inference_key"], words[2][1])
	assert.Equal(t, http.StatusOK, status, reply)
	assertSensible(t, reply)

	assert.True(t, strings.HasPrefix(command, "curl -sS "), "errors are shown, progress is not")
	if _, err := exec.LookPath("curl"); err == nil {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
		require.NoError(t, err)
		assertSensible(t, string(out))
	}
	status, reply = s.post(t, s.keys["management_key"], words[2][1])
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, reply, "Management keys cannot be used for inference")
	assert.Equal(t, exitOK, s.stop(t, os.Interrupt))
}

// assertSensible requires the answers that a person would give about the ticket in the
// printed command.
func assertSensible(t *testing.T, reply string) {
	t.Helper()
	var got struct {
		Answers struct {
			Desk struct {
				Choice string `json:"choice"`
			} `json:"desk"`
			Refund struct {
				Noul float64 `json:"noul"`
			} `json:"refund"`
			Anger struct {
				Score float64 `json:"score"`
			} `json:"anger"`
		} `json:"answers"`
	}
	require.NoError(t, json.Unmarshal([]byte(reply), &got), reply)
	assert.Equal(t, "billing", got.Answers.Desk.Choice)
	assert.Greater(t, got.Answers.Refund.Noul, 0.8)
	assert.InDelta(t, 1, got.Answers.Anger.Score, 0.25, "annoyed, neither friendly nor furious")
}

func TestBothDialectsAreMounted(t *testing.T) {
	s := startServer(t)
	root := strings.TrimSuffix(s.keys["base_url"], "/api/v1")
	for path, want := range map[string]int{
		"/api/v1/models": http.StatusOK, "/api/v1/providers": http.StatusOK, "/v1/nothing": http.StatusNotFound,
		"/api/v1": http.StatusNotFound, "/v1": http.StatusNotFound, "/api/v1/": http.StatusNotFound, "/v1/": http.StatusNotFound,
		"/api/v1/models/signalbox/similarity-en-1/endpoints": http.StatusOK,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, root+path, http.NoBody)
		require.NoError(t, err)
		resp, err := http.DefaultTransport.RoundTrip(req) // follows no redirect
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, resp.StatusCode, "%s: %s", path, text)
		assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, root+"/v1/models", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.keys["inference_key"])
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Equal(t, exitOK, s.stop(t, syscall.SIGTERM))
}

func TestSignalsLetRequestsInFlightFinish(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			reached, answer := make(chan struct{}), make(chan struct{})
			up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				close(reached)
				<-answer
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"model":"j","answers":{"q":{"type":"noul","noul":0.75}},"usage":{"input_tokens":3,"output_tokens":1}}`)
			}))
			t.Cleanup(up.Close)
			s := startServer(t, "-config", write(t, fmt.Sprintf(`{
				"providers": [{"slug": "up", "kind": "systemone", "base_url": "%s/v1"}],
				"models": [{"id": "acme/judge", "permaslug": "acme/judge-20260901"}],
				"endpoints": [{"provider": "up", "model": "acme/judge", "pricing": {"prompt": "1", "request": "0.5"}}]}`, up.URL)))
			type reply struct {
				status int
				body   string
			}
			done := make(chan reply, 1)
			go func() {
				defer close(done)
				status, body := s.post(t, s.keys["inference_key"], //nolint:testifylint // a failure closes done, which fails the test
					`{"model":"judge","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`)
				done <- reply{status, body}
			}()
			<-reached
			require.NoError(t, s.cmd.Process.Signal(sig))
			close(answer)
			got := <-done
			assert.Equal(t, http.StatusOK, got.status, got.body)
			assert.Contains(t, got.body, `"cost":0.500003`)
			_ = s.cmd.Wait()
			assert.Equal(t, exitOK, s.cmd.ProcessState.ExitCode())
		})
	}
}

// write writes text to a file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestAKeysFileThatCannotBeWrittenStopsTheServer(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	path := filepath.Join(folder, "keys.json")
	require.NoError(t, os.Mkdir(folder, 0o700))
	o, err := parse([]string{"-addr", "127.0.0.1:0", "-keys-file", path}, io.Discard)
	require.NoError(t, err)
	require.NoError(t, os.Remove(folder)) // between the check and the use
	s := newTestService(t, builtin())
	var stdout strings.Builder
	err = s.serve(t.Context(), o, &stdout)
	require.EqualError(t, err, "keys file "+path+": no such file or directory", "without the temporary file")
	assert.Empty(t, stdout.String(), "no keys are shown by a server that does not serve")
}

func TestAnAddressInUseIsSaid(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	var stdout, stderr strings.Builder
	code := run(t.Context(), []string{"-addr", taken.Listener.Addr().String()}, func(string) string { return "" }, &stdout, &stderr)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr.String(), "address already in use")
}

func TestStoppingUnderLoadLosesNoRequest(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"j","answers":{"q":{"type":"noul","noul":0.75}},"usage":{"input_tokens":3,"output_tokens":1}}`)
	}))
	t.Cleanup(up.Close)
	s := startServer(t, "-config", write(t, fmt.Sprintf(`{
		"providers": [{"slug": "up", "kind": "systemone", "base_url": "%s/v1"}],
		"models": [{"id": "acme/judge", "permaslug": "acme/judge-20260901"}],
		"endpoints": [{"provider": "up", "model": "acme/judge"}]}`, up.URL)))

	const callers = 16
	var answered atomic.Int64
	// ask sends requests over one connection until a reply asks to close it.
	ask := func() error {
		client := http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		for last := false; !last; {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.keys["base_url"]+"/systemone",
				strings.NewReader(`{"model":"judge","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`))
			if err != nil {
				return err
			}
			req.Header.Set("Authorization", "Bearer "+s.keys["inference_key"])
			resp, err := client.Do(req)
			if err != nil {
				return fmt.Errorf("a request was lost: %w", err)
			}
			_, err = io.Copy(io.Discard, resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				return err
			}
			if resp.StatusCode != http.StatusOK {
				return errors.New(resp.Status)
			}
			if answered.Add(1) == 10*callers {
				if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
					return err
				}
			}
			last = resp.Close
		}
		return nil
	}
	var group errgroup.Group
	for range callers {
		group.Go(ask)
	}
	require.NoError(t, group.Wait())
	_ = s.cmd.Wait()
	assert.Equal(t, exitOK, s.cmd.ProcessState.ExitCode())
	assert.GreaterOrEqual(t, answered.Load(), int64(10*callers))
}

func TestUnderTheMountsEveryAnswerIsInTheEnvelope(t *testing.T) {
	s := startServer(t)
	root := strings.TrimSuffix(s.keys["base_url"], "/api/v1")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{
		"/api/v1", "/v1", "/api/v1/", "/v1/", "/api/v1//systemone", "/api/v1/./systemone", "/api/v1/../v1/systemone", "/v1/systemone/../models",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, root, nil)
		require.NoError(t, err)
		req.URL.Path = path
		resp, err := client.Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusNotFound, resp.StatusCode, path)
		assert.Contains(t, string(text), `"message":"Resource not found"`, path)
	}
}
