package router_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// A cost above its hold is logged with what the operator needs to find it.
func TestOverrunsAreLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))
	l := newTill(t, "ant", 0)
	l.rig = newRig(t, "ant", func(cfg *router.Config) {
		cfg.Ledger, cfg.Now = l.ledger, l.clock.now
		cfg.Interceptors = []router.Interceptor{router.Log(log)}
	}, func(e *router.Endpoint) { e.Pricing = router.Pricing{Prompt: router.Dollars("1")} })
	l.upstreams["ant"].will(reply(func(r *router.Reply) { r.Usage.InputTokens = 1_000_000 }), answer)
	c := l.call()
	c.KeyLabel = "sk-rt-v1-abc...9f86"
	require.Empty(t, l.ask(c))
	require.Empty(t, l.ask(l.call()), "a call that costs what it may")
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), "one line: %s", out.String())
	assert.Equal(t, "WARN", line["level"])
	assert.Equal(t, "sk-rt-v1-abc...9f86", line["key_label"])
	assert.Equal(t, "ant", line["endpoint"])
	assert.Equal(t, "1", line["cost"])
	assert.Equal(t, c.Report.Overrun.Held.Total.String(), line["held"])
	assert.Positive(t, c.Report.Overrun.Held.Total)
	assert.Equal(t, c.ID, line["id"])
}
