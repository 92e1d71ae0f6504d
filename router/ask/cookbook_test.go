package ask_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
)

func TestGateFailsClosed(t *testing.T) {
	say := func(asked, destroy float64) routertest.Step {
		return routertest.Step{Answers: []routertest.Answer{routertest.Yes("asked", asked), routertest.Yes("destroy", destroy)}}
	}
	for name, c := range map[string]struct {
		step routertest.Step
		want bool
	}{
		"sure":             {say(0.97, 0.02), true},
		"perhaps destroys": {say(0.97, 0.2), false},
		"no answer":        {routertest.Step{Err: routertest.Fail(503, 0)}, false},
	} {
		catalog, err := routertest.Catalog(routertest.NewScript(t, c.step))
		require.NoError(t, err)
		rt, err := router.New(router.Config{Catalog: catalog})
		require.NoError(t, err)
		assert.Equal(t, c.want, allow(t.Context(), rt, routertest.Model, ToolCall{Tool: "files.list"}), name)
	}
}
