package signalbox_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAProgramOutsideTheModule compiles and runs testdata/outside, a module of its own
// with a replace line for this one. That program embeds the service, asks in process,
// with a struct and over both mounts, and stops.
func TestAProgramOutsideTheModule(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "outside"))))
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"go.sum": string(sums),
		"go.mod": "module example.org/outside\n\ngo 1.26\n\n" +
			"require github.com/signalbox/signalbox v0.0.0\n\nreplace github.com/signalbox/signalbox => " + here + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	// The module cache has what this module's own build needed: nothing is fetched.
	cmd := exec.CommandContext(t.Context(), "go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOPROXY=off", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	assert.Equal(t, "in process: billing\ntyped: billing\n/api/v1/systemone: 200 billing\n/v1/systemone: 200 billing\nstopped\n", string(out))
}
