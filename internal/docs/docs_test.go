package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..")

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

func TestGoBlocksStandInCode(t *testing.T) {
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "docs/cookbook.md"} {
		for _, wrong := range foreign(root, read(t, name)) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	all := markdown(t, root)
	require.Contains(t, all, "README.md")
	for _, name := range all {
		for _, wrong := range broken(root, name, read(t, name)) {
			t.Error(wrong)
		}
	}
}

func TestReadmeNamesTheCommands(t *testing.T) {
	readme := read(t, "README.md")
	assert.Contains(t, readme, "go run ./examples/server")
	assert.Contains(t, readme, "go test ./...")
}

// docs/threats.md names a test for each claim as "package.TestName". Names without a
// package that follow are in the same package.
func TestThreatsNameTests(t *testing.T) {
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		pkg := filepath.Base(filepath.Dir(path))
		if filepath.Dir(path) == root {
			pkg = "signalbox"
		}
		for _, m := range declared.FindAllSubmatch(code, -1) {
			tests[pkg+"."+string(m[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(?:([a-z]+)\\.)?((?:Test|Fuzz|Benchmark)\\w+)`")
	found := 0
	for row := range strings.Lines(read(t, "docs/threats.md")) {
		pkg := ""
		for _, m := range named.FindAllStringSubmatch(row, -1) {
			if m[1] != "" {
				pkg = m[1]
			}
			assert.True(t, tests[pkg+"."+m[2]], "there is no %s.%s", pkg, m[2])
			found++
		}
	}
	assert.Positive(t, found)
}

// TestForeign runs the block check on small texts.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {\n\tif ok {\n\t\trun()\n\t}\n}\n"), 0o600))
	for _, c := range []struct{ name, text, want string }{
		{"stands", "<!-- from main.go -->\n```go\nif ok {\n    run()\n}\n```\n", ""},
		{"a blank line between", "<!-- from main.go -->\n\n```go\nif ok {\n    run()\n}\n```\n", ""},
		{"no Go", "```sh\nrun()\n```\n", ""},
		{"no mark", "```go\nrun()\n```\n", "line 1: a Go block without a mark"},
		{"a mark for another block", "<!-- from main.go -->\n```sh\nx\n```\n```go\nrun()\n```\n", "line 5: a Go block without a mark"},
		{"prose between", "<!-- from main.go -->\nprose\n```go\nrun()\n```\n", "line 3: a Go block without a mark"},
		{"one character off", "<!-- from main.go -->\n```go\nif ok {\n\truns()\n}\n```\n", "line 2: the block does not stand in main.go"},
		{"a line left out", "<!-- from main.go -->\n```go\nif ok {\n}\n```\n", "line 2: the block does not stand in main.go"},
		{"empty", "<!-- from main.go -->\n```go\n```\n", "line 2: the block does not stand in main.go"},
		{"JSON without a mark", "```json\nrun()\n```\n", ""},
		{"JSON of another file", "<!-- from main.go -->\n```json\n{}\n```\n", "does not stand in main.go"},
		{"no such file", "<!-- from gone.go -->\n```go\nrun()\n```\n", "gone.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := foreign(dir, c.text)
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0], c.want)
		})
	}
}

// TestBroken runs the link check on small texts.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.md"), []byte("# Two `words`, here\n"), 0o600))
	for _, c := range []struct{ name, text, want string }{
		{"file", "[x](../b.md)", ""},
		{"folder", "[x](../sub/)", ""},
		{"heading elsewhere", "[x](../b.md#two-words-here)", ""},
		{"heading here", "# Own\n[x](#own)", ""},
		{"address", "[x](https://example.org/none.md)", ""},
		{"reference", "[x][y]\n\n[y]: ../b.md", ""},
		{"in code", "`[x](none.md)`\n```\n[x](none.md)\n```\n", ""},
		{"no file", "[x](none.md)", "none.md does not exist"},
		{"no file in a reference", "[x][y]\n\n[y]: none.md", "none.md does not exist"},
		{"no heading elsewhere", "[x](../b.md#three)", "names no heading"},
		{"no heading here", "[x](#own)", "names no heading"},
		{"outside", "[x](../../b.md)", "leaves the repository"},
		{"absolute", "[x](/b.md)", "leaves the repository"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := broken(dir, "sub/a.md", c.text)
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0], c.want)
		})
	}
}

// TestFailingExamplesStayLocal: git ignores the files that rapid writes beside a
// failing test. A fix adds a test of its own instead.
func TestFailingExamplesStayLocal(t *testing.T) {
	assert.Contains(t, strings.Split(read(t, ".gitignore"), "\n"), "**/testdata/rapid/")
}
