package sdktest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// call is one use of an SDK, as the scripts read it.
type call struct {
	Name    string            `json:"name"`
	Key     string            `json:"key"`
	Call    string            `json:"call"`
	Request map[string]any    `json:"request,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Retry   map[string]any    `json:"retry,omitempty"`
}

// outcome is what an SDK returned for a call.
type outcome struct {
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"`
	RequestID string          `json:"requestId"`
	Error     *failed         `json:"error"`
}

// failed is an error of an SDK: of the OpenRouter SDK Error and Metadata, of the
// TypeSafe SDK Body and RetryAfterMS, of the OpenAI SDKs Type, Param and Code.
type failed struct {
	Class        string         `json:"class"`
	Status       int            `json:"status"`
	Message      string         `json:"message"`
	Error        problem        `json:"error"`
	Metadata     map[string]any `json:"metadata"`
	UserID       string         `json:"userId"`
	RequestID    string         `json:"requestId"`
	RetryAfter   string         `json:"retryAfter"`
	RetryAfterMS float64        `json:"retryAfterMs"`
	Type         string         `json:"type"`
	Param        string         `json:"param"`
	Code         string         `json:"code"`
	Body         struct {
		Error  problem `json:"error"`
		Detail struct {
			ErrorType string `json:"error_type"`
			Message   string `json:"message"`
		} `json:"detail"`
	} `json:"body"`
}

type problem struct {
	Code     int            `json:"code"`
	Message  string         `json:"message"`
	Metadata map[string]any `json:"metadata"`
}

// run passes calls to a script and returns their outcomes by name.
func run(t *testing.T, script, baseURL string, calls []call) map[string]outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ready(t, script), script)
	// The SDKs read settings from the environment, so they get only what a program
	// needs to start.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	return exchange(t, cmd, baseURL, calls)
}

// exchange runs a program with calls as its input and returns their outcomes by name.
func exchange(t *testing.T, cmd *exec.Cmd, baseURL string, calls []call) map[string]outcome {
	t.Helper()
	input, err := json.Marshal(map[string]any{"baseURL": baseURL, "cases": calls})
	require.NoError(t, err)
	cmd.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s", &stderr)
	require.NotContains(t, stdout.String(), innerText, "an inner text reached a client")
	var list []outcome
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &list), "%s", &stdout)
	require.Len(t, list, len(calls))
	byName := map[string]outcome{}
	for _, o := range list {
		byName[o.Name] = o
	}
	require.Len(t, byName, len(calls), "two calls have one name")
	return byName
}

// ready returns the path of Node, or skips the test if Node or the packages are
// missing. It reads the files that the child process reads, so that the test cache
// knows them.
func ready(t *testing.T, script string) string {
	t.Helper()
	for _, name := range []string{script, "package-lock.json"} {
		_, err := os.ReadFile(name)
		require.NoError(t, err)
	}
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.ReadFile(filepath.Join("node_modules", ".package-lock.json"))
	}
	switch {
	case err == nil:
		return node
	case os.Getenv("SIGNALBOX_TEST_NOSKIP") == "1":
		t.Fatalf("Node and its packages are promised here (npm ci in internal/sdktest): %v", err)
	default:
		t.Skipf("needs Node 20 and its packages (npm ci in internal/sdktest): %v", err)
	}
	return ""
}
