package arch

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// topHabit is the highest floor with the habits; above it are test kits and programs.
const topHabit = 10

// habitFree names packages of the lower floors that are test kits: they may
// stop a test, and they look at the real clock.
var habitFree = []string{"router/routertest"}

// forbidden lists, by import path, the functions and variables that use something an
// embedder cannot replace.
var forbidden = map[string][]string{
	"time":         {"Now", "Since", "Until"},
	"os":           {"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Exit"},
	"net/http":     {"DefaultClient", "DefaultTransport", "DefaultServeMux", "Get", "Head", "Post", "PostForm"},
	"math/rand":    nil, // nil: every function but constructors
	"math/rand/v2": nil,
}

// constructors are the functions of math/rand that keep no global state.
var constructors = []string{"New", "NewPCG", "NewChaCha8", "NewSource", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}

// injected lists the only permitted uses of what is forbidden: as the default of a
// field that the embedder may set, as a value and without a call, as in
// cfg.Now = time.Now. The key is the field, the values are its permitted defaults.
var injected = map[string][]string{
	"Now": {"time.Now"},
	"now": {"time.Now"},
	// since is a function of a time that such a field returned.
	"since": {"time.Since"},
	"Seed":  {"rand.Uint64"},
	"seed":  {"rand.Uint64"},
}

// habits reports the uses of forbidden things in one file.
func habits(s source) []string {
	var wrong []string
	found := func(what string) {
		wrong = append(wrong, fmt.Sprintf("%s: %s", s.name, what))
	}
	names := localNames(s.file)
	defaults := map[ast.Expr]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				found("func init")
			}
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				defaults[n.Rhs[i]] = isDefault(n.Lhs[i], n.Rhs[i])
			}
		case *ast.KeyValueExpr:
			defaults[n.Value] = isDefault(n.Key, n.Value)
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "panic" {
				found("panic")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && !defaults[n] && isForbidden(names[x.Name], n.Sel.Name) {
				found(x.Name + "." + n.Sel.Name)
			}
		}
		return true
	})
	return wrong
}

// localNames maps the local names of a file's imports to their paths.
func localNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(imp)
		if imp == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imp
	}
	return names
}

func isForbidden(imp, name string) bool {
	list, ok := forbidden[imp]
	switch {
	case !ok:
		return false
	case list == nil:
		return !slices.Contains(constructors, name)
	}
	return slices.Contains(list, name)
}

func isDefault(to, value ast.Expr) bool {
	field := ""
	switch to := to.(type) {
	case *ast.Ident:
		field = to.Name
	case *ast.SelectorExpr:
		field = to.Sel.Name
	}
	from, ok := value.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := from.X.(*ast.Ident)
	return ok && slices.Contains(injected[field], x.Name+"."+from.Sel.Name)
}

func TestHabits(t *testing.T) {
	for _, s := range production(t) {
		if here := floor(s.pkg); here < 0 || here > topHabit || slices.Contains(habitFree, s.pkg) {
			continue
		}
		for _, wrong := range habits(s) {
			t.Error(wrong)
		}
	}
}

// TestHabitsAreKept runs the check on small made-up files.
func TestHabitsAreKept(t *testing.T) {
	for _, c := range []struct{ name, imports, body, want string }{
		{"clock named as a default", `"time"`, `func f(c *cfg) { if c.Now == nil { c.Now = time.Now } }`, ""},
		{"clock named in a literal", `"time"`, `var c = cfg{Now: time.Now}`, ""},
		{"seed named as a default", `"math/rand/v2"`, `func f(c *cfg) { c.Seed = rand.Uint64 }`, ""},
		{"own generator", `"math/rand/v2"`, `func f() uint64 { return rand.New(rand.NewPCG(1, 2)).Uint64() }`, ""},
		{"crypto randomness", `"crypto/rand"`, `func f() string { return rand.Text() }`, ""},
		{"own name of another package", `time "example.org/clock"`, `func f() int { return time.Now() }`, ""},
		{"method called init", ``, `func (cfg) init() {}`, ""},
		{"clock read", `"time"`, `func f() time.Time { return time.Now() }`, "time.Now"},
		{"clock read into the field", `"time"`, `func f(c *cfg) { c.Now = time.Now() }`, "time.Now"},
		{"clock under another field", `"time"`, `func f(c *cfg) { c.Tick = time.Now }`, "time.Now"},
		{"clock under another name", `clock "time"`, `func f() { _ = clock.Since(t) }`, "clock.Since"},
		{"global randomness", `"math/rand/v2"`, `func f() int { return rand.IntN(3) }`, "rand.IntN"},
		{"environment", `"os"`, `func f() string { return os.Getenv("X") }`, "os.Getenv"},
		{"default client", `"net/http"`, `var c = http.DefaultClient`, "http.DefaultClient"},
		{"init", ``, `func init() {}`, "func init"},
		{"panic", ``, `func f() { panic("x") }`, "panic"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "package x\n"
			if c.imports != "" {
				text += "import " + c.imports + "\n"
			}
			got := habits(parse(t, "router/x.go", "router/x.go", text+c.body+"\n"))
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.True(t, strings.HasSuffix(got[0], ": "+c.want), got[0])
		})
	}
}
