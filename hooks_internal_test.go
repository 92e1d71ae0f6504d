package signalbox

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// TestStoresAnnounceEveryChange: each method of a store that takes the record of a change
// is wrapped. A method that is not is the embedded store's own, which the compiler
// generates.
func TestStoresAnnounceEveryChange(t *testing.T) {
	set := announced(memory.New(), func(router.Change) {})
	wrapped := 0
	for _, s := range []any{set.Keys, set.Credentials, set.Presets, set.Guardrails, set.Organization} {
		of := reflect.TypeOf(s)
		for m := range of.Methods() {
			if n := m.Type.NumIn(); m.Type.In(n-1) != reflect.TypeFor[router.Change]() {
				continue
			}
			wrapped++
			file, _ := runtime.FuncForPC(m.Func.Pointer()).FileLine(m.Func.Pointer())
			assert.True(t, strings.HasSuffix(file, "hooks.go"), "%s.%s announces nothing", of.Name(), m.Name)
		}
	}
	require.Equal(t, 24, wrapped)
}
