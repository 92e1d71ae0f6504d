package arch

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// linked returns what a program links that imports the packages in roots: packages of
// this module, and the packages of other modules that they import.
func linked(t *testing.T, all []source, roots ...string) (ours, others []string) {
	t.Helper()
	imports := map[string][]string{}
	for _, s := range all {
		for _, spec := range s.file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			imports[s.pkg] = append(imports[s.pkg], path)
		}
	}
	found, foreign := map[string]bool{}, map[string]bool{}
	for queue := roots; len(queue) > 0; queue = queue[1:] {
		if found[queue[0]] {
			continue
		}
		found[queue[0]] = true
		for _, path := range imports[queue[0]] {
			if pkg, own := strings.CutPrefix(path, module+"/"); own {
				queue = append(queue, pkg)
			} else if host, _, _ := strings.Cut(path, "/"); path == module || strings.Contains(host, ".") {
				foreign[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(foreign))
}

// TestTheCoreLinksTwoModules: a program that imports only router and systemone links
// nothing of HTTP, SQL, the embedded model or the root package. It links two modules
// beside the standard library, and neither of them requires another module.
func TestTheCoreLinksTwoModules(t *testing.T) {
	ours, others := linked(t, production(t), "router", "systemone")
	assert.Equal(t, []string{"github.com/google/uuid", "github.com/shopspring/decimal"}, others)
	assert.Equal(t, []string{"internal/jsontext", "internal/panics", "internal/split", "internal/typednil", "router", "systemone"}, ours)
}

// TestLinked runs the walk on a package that imports a lot.
func TestLinked(t *testing.T) {
	ours, others := linked(t, production(t), ".")
	for _, pkg := range []string{"httpapi", "guardrails", "store/memory", "systemone"} {
		assert.Contains(t, ours, pkg)
	}
	for _, pkg := range []string{"store/sqlite", "store/postgres", "router/similarity", "router/prommetrics"} {
		assert.NotContains(t, ours, pkg, "the root package links no driver, no model and no metrics")
	}
	assert.Contains(t, others, "github.com/google/uuid")
	for _, path := range others {
		assert.NotContains(t, path, "prometheus")
		assert.NotContains(t, path, "opentelemetry", "telemetry is linked by programs that import it")
	}
}
