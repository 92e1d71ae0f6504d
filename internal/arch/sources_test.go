package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/signalbox/signalbox"

// source is one production file.
type source struct {
	pkg  string // folder within the module, "." for the root
	name string // file within the module
	file *ast.File
}

// parse reads one file of the package in folder pkg. A nil text means the
// file on disk at disk.
func parse(t *testing.T, name, disk string, text any) source {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), disk, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	return source{pkg: path.Dir(name), name: name, file: file}
}

// production returns every Go file of the module that is not a test.
func production(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []source
	require.NoError(t, filepath.WalkDir(root, func(disk string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(root, disk, entry.Name())
		}
		if strings.HasSuffix(disk, ".go") && !strings.HasSuffix(disk, "_test.go") {
			name, err := filepath.Rel(root, disk)
			if err != nil {
				return err
			}
			all = append(all, parse(t, filepath.ToSlash(name), disk, nil))
		}
		return nil
	}))
	return all
}

// enter decides whether the walk descends into a folder. It skips those that the go
// command ignores, and nested modules.
func enter(root, disk, name string) error {
	if disk == root {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(disk, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// covers reports whether a pattern names a package: "a/b" is the package itself, "a/*"
// all packages directly in a, "a/..." all packages below a, but not a.
func covers(pattern, pkg string) bool {
	parent, below := strings.CutSuffix(pattern, "/...")
	if !below {
		ok, err := path.Match(pattern, pkg)
		return ok && err == nil
	}
	for up := path.Dir(pkg); up != "."; up = path.Dir(up) {
		if ok, err := path.Match(parent, up); ok && err == nil {
			return true
		}
	}
	return false
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"router", "router", true},
		{"router", "router/similarity", false},
		{"router/...", "router", false},
		{"router/...", "router/similarity", true},
		{"router/...", "routers/similarity", false},
		{"examples/*", "examples/server", true},
		{"examples/*", "examples/triage/mail", false},
		{"examples/*/...", "examples/server", false},
		{"examples/*/...", "examples/triage/mail/mime", true},
		{".", ".", true},
		{".", "router", false},
	} {
		require.Equal(t, c.want, covers(c.pattern, c.pkg), "%s covers %s", c.pattern, c.pkg)
	}
}
