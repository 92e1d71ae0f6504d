package arch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// floors orders the packages: each imports packages of lower floors only. The
// first pattern that covers a package gives its floor.
var floors = [][]string{
	{"internal/jsonsize", "internal/jsontext", "internal/panics", "internal/typednil"},
	{"systemone"},
	{"internal/split"},
	{"router"},
	{"guardrails/content", "internal/cache", "internal/openai", "internal/upstream", "internal/uselite", "internal/wordvec", "router/hooks", "router/telemetry"},
	{"router/...", "keys", "organization", "presets", "activity", "guardrails"},
	{"internal/sqldb", "store", "httpapi"},
	{"internal/sqlledger"},
	{"internal/sqlstore"},
	{"store/memory", "store/sqlite", "store/postgres", "store/lease"},
	{"."},
	{"store/storetest", "internal/pgtest", "internal/dataset", "internal/demo"},
	{"examples/*/..."},
	{"examples/*", "internal/arch", "internal/docs", "internal/modelpack", "internal/proofs", "internal/sdktest"},
}

// onlyIn lists, for a sensitive import and all paths below it, the packages whose
// production code may have it. An empty list means that only tests may.
var onlyIn = map[string][]string{
	"net/http": {
		".", "httpapi", "internal/upstream", "internal/sdktest", "examples/...",
		"router/systemonehttp", "router/openaidecisions", "router/geminidecisions", "router/routertest", "router/webhook", "router/telemetry/export",
	},
	"database/sql":                      {"store/sqlite", "examples/..."},
	"github.com/jackc/pgx/v5":           {"store/postgres", "internal/pgtest", "examples/..."},
	"modernc.org/sqlite":                {"examples/..."},
	"testing":                           {"store/storetest", "router/routertest", "internal/pgtest", "internal/dataset"},
	"github.com/prometheus":             {"router/prommetrics", "examples/server"},
	"github.com/stretchr/testify":       {"store/storetest", "router/routertest"},
	"github.com/emersion/go-message":    {"examples/triage"},
	"go.opentelemetry.io/otel":          {"router/telemetry", "router/telemetry/export", "examples/..."},
	"go.opentelemetry.io/otel/sdk":      {"examples/..."},
	"go.opentelemetry.io/proto":         {},
	"google.golang.org/protobuf":        {},
	"go.uber.org/mock":                  {},
	"github.com/anishathalye/porcupine": {},
	"pgregory.net/rapid":                {"store/storetest"}, // random histories are part of the suite
	"go.yaml.in/yaml/v3":                {},
	"golang.org/x/net":                  {"examples/triage", "examples/triage/..."},
	"golang.org/x/text":                 {"guardrails/content", "internal/uselite", "examples/triage", "examples/triage/..."},
	"golang.org/x/sys":                  {"internal/uselite"},
	"math/rand":                         {},                    // math/rand/v2 is another path
	"log":                               {"router/routertest"}, // an http.Server's own log; log/slog is another path
	"flag":                              {"examples/...", "internal/modelpack", "internal/pgtest", "store/storetest"},
	"os/exec":                           {"examples/...", "internal/modelpack", "internal/pgtest", "internal/sdktest"},
}

// exact lists the guarded imports that do not cover the paths below them.
var exact = []string{"math/rand", "log"}

// floor returns a package's floor, or -1.
func floor(pkg string) int {
	return slices.IndexFunc(floors, func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, pkg) })
	})
}

// misplaced reports what is wrong with the imports of one file.
func misplaced(s source) []string {
	here := floor(s.pkg)
	if here < 0 {
		return []string{fmt.Sprintf("%s: %s stands on no floor; give it one", s.name, s.pkg)}
	}
	var wrong []string
	for _, spec := range s.file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return append(wrong, fmt.Sprintf("%s: %v", s.name, err))
		}
		if to, ours := strings.CutPrefix(imp, module+"/"); ours {
			if there := floor(to); there < 0 || there >= here {
				wrong = append(wrong, fmt.Sprintf("%s: floor %d imports %s of floor %d", s.name, here, to, there))
			}
		}
		for _, guarded := range slices.Sorted(maps.Keys(onlyIn)) {
			if guards(guarded, imp) && !slices.ContainsFunc(onlyIn[guarded], func(p string) bool { return covers(p, s.pkg) }) {
				wrong = append(wrong, fmt.Sprintf("%s: %s is not for %s", s.name, imp, s.pkg))
			}
		}
	}
	return wrong
}

func guards(guarded, imp string) bool {
	return imp == guarded || strings.HasPrefix(imp, guarded+"/") && !slices.Contains(exact, guarded)
}

func TestFloors(t *testing.T) {
	all := production(t)
	require.True(t, slices.ContainsFunc(all, func(s source) bool { return s.pkg == "internal/arch" }), "the walk found nothing")
	for _, s := range all {
		for _, wrong := range misplaced(s) {
			t.Error(wrong)
		}
	}
}

// TestFloorsAreKept runs the check on small made-up files, one for each kind of
// violation, so that a check that finds nothing cannot pass unnoticed.
func TestFloorsAreKept(t *testing.T) {
	for _, c := range []struct {
		file, imp string
		want      string
	}{
		{"systemone/codec.go", "encoding/json", ""},
		{"router/plan.go", module + "/systemone", ""},
		{"httpapi/handler.go", "net/http", ""},
		{"httpapi/handler.go", "log/slog", ""},
		{"router/draw.go", "math/rand/v2", ""},
		{"examples/triage/main.go", module + "/examples/triage/mail", ""},
		{"surprise/x.go", "fmt", "stands on no floor"},
		{"systemone/codec.go", module + "/router", "floor 1 imports router of floor 3"},
		{"router/plan.go", module + "/router/similarity", "floor 3 imports router/similarity of floor 5"},
		{"router/plan.go", module + "/internal/split", ""},
		{"internal/split/choice.go", module + "/router", "floor 2 imports router of floor 3"},
		{"keys/intercept.go", module + "/guardrails", "floor 5 imports guardrails of floor 5"},
		{"store/memory/keys.go", module + "/store/sqlite", "floor 9 imports store/sqlite of floor 9"},
		{"router/plan.go", module + "/surprise", "floor 3 imports surprise of floor -1"},
		{"examples/triage/main.go", module + "/examples/server", "floor 13 imports examples/server of floor 13"},
		{"router/plan.go", "net/http", "net/http is not for router"},
		{"router/similarity/model.go", "net/http/httptest", "net/http/httptest is not for router/similarity"},
		{"internal/sqlstore/keys.go", module + "/store/postgres", "floor 8 imports store/postgres of floor 9"},
		{"internal/sqlstore/keys.go", "github.com/jackc/pgx/v5/pgxpool", "pgx/v5/pgxpool is not for internal/sqlstore"},
		{"store/sqlite/sqlite.go", "modernc.org/sqlite", "modernc.org/sqlite is not for store/sqlite"},
		{"store/postgres/keys.go", "database/sql", "database/sql is not for store/postgres"},
		{"signalbox.go", "github.com/prometheus/client_golang/prometheus", "client_golang/prometheus is not for ."},
		{"router/plan.go", "testing", "testing is not for router"},
		{"httpapi/handler.go", "github.com/stretchr/testify/assert", "testify/assert is not for httpapi"},
		{"router/plan.go", "math/rand", "math/rand is not for router"},
		{"router/log.go", "log", "log is not for router"},
		{"router/telemetry/call.go", "go.opentelemetry.io/otel/trace", ""},
		{"router/log.go", "go.opentelemetry.io/otel/trace", "go.opentelemetry.io/otel/trace is not for router"},
		{"router/telemetry/call.go", "go.opentelemetry.io/otel/sdk/trace", "go.opentelemetry.io/otel/sdk/trace is not for router/telemetry"},
	} {
		t.Run(c.file+" imports "+c.imp, func(t *testing.T) {
			got := misplaced(parse(t, c.file, c.file, "package x\n\nimport _ "+strconv.Quote(c.imp)+"\n"))
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0], c.want)
		})
	}
}
