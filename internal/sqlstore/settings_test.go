package sqlstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// settings draws a guardrail with settings only.
func settings(t *rapid.T) (g guardrails.Guardrail) {
	text := rapid.String()
	flag := func(name string) *bool { return rapid.Ptr(rapid.Bool(), true).Draw(t, name) }
	names := func(name string) []string {
		return rapid.OneOf(rapid.Just([]string(nil)), rapid.SliceOf(text)).Draw(t, name)
	}
	filters := func(name string) []content.Filter {
		each := rapid.Custom(func(t *rapid.T) content.Filter {
			return content.Filter{
				Slug: text.Draw(t, "slug"), Pattern: text.Draw(t, "pattern"), Label: text.Draw(t, "label"),
				Action: content.Action(rapid.Uint8Max(2).Draw(t, "action")), UserOnly: rapid.Bool().Draw(t, "user only"),
			}
		})
		return rapid.OneOf(rapid.Just([]content.Filter(nil)), rapid.SliceOf(each)).Draw(t, name)
	}
	g.Description = rapid.Ptr(text, true).Draw(t, "description")
	g.AllowedModels, g.IgnoredModels = names("allowed models"), names("ignored models")
	g.AllowedProviders, g.IgnoredProviders = names("allowed providers"), names("ignored providers")
	if limit := rapid.Ptr(rapid.Int64(), true).Draw(t, "limit"); limit != nil {
		g.Limit = new(router.USD(*limit))
	}
	g.Reset, g.BYOK = router.Interval(rapid.Uint8Max(3).Draw(t, "reset")), rapid.Bool().Draw(t, "byok")
	for _, b := range []**bool{
		&g.ZDR.General, &g.ZDR.Anthropic, &g.ZDR.OpenAI, &g.ZDR.Google, &g.ZDR.XAI, &g.ZDR.Other,
		&g.PaidTraining, &g.FreeTraining, &g.FreePublication,
	} {
		*b = flag("flag")
	}
	g.Builtins, g.Filters = filters("builtins"), filters("filters")
	return g
}

func TestSettingsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := settings(t)
		text, err := encodeGuardrail(&want)
		require.NoError(t, err)
		var got guardrails.Guardrail
		require.NoError(t, decodeGuardrail(text, &got))
		require.Equal(t, want, got)
	})
}

// Databases keep this text for ever: members may be added to it, but never renamed.
const stored = `{"description":"why","allowed_models":["a/b"],"ignored_models":["c/d"],"allowed_providers":["e"],` +
	`"ignored_providers":[],"limit_nano":9007199254740993,"reset":"weekly","byok":true,` +
	`"zdr":{"general":true,"anthropic":true,"openai":false,"google":true,"xai":false,"other":true},` +
	`"paid_training":false,"free_training":true,"free_publication":false,` +
	`"builtins":[{"slug":"email","action":"flag"}],` +
	`"filters":[{"pattern":"\\d+","action":"redact","label":"[N]","user_only":true},{"pattern":"x","action":"block"}]}`

func TestSettingsKeepTheirNames(t *testing.T) {
	t.Parallel()
	want := guardrails.Guardrail{
		Description:   new("why"),
		AllowedModels: []string{"a/b"}, IgnoredModels: []string{"c/d"},
		AllowedProviders: []string{"e"}, IgnoredProviders: []string{},
		Limit: new(router.USD(1<<53 + 1)), Reset: router.Weekly, BYOK: true,
		ZDR: guardrails.ZDR{
			General: new(true), Anthropic: new(true), OpenAI: new(false), Google: new(true), XAI: new(false), Other: new(true),
		},
		PaidTraining: new(false), FreeTraining: new(true), FreePublication: new(false),
		Builtins: []content.Filter{{Slug: content.Email}},
		Filters: []content.Filter{
			{Pattern: `\d+`, Action: content.Redact, Label: "[N]", UserOnly: true},
			{Pattern: "x", Action: content.Block},
		},
	}
	var got guardrails.Guardrail
	require.NoError(t, decodeGuardrail(stored, &got))
	assert.Equal(t, want, got)
	text, err := encodeGuardrail(&want)
	require.NoError(t, err)
	assert.Equal(t, stored, text)
}

func TestSettingsOfALaterVersionAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"interval": `{"reset":"hourly"}`,
		"builtin":  `{"reset":"daily","builtins":[{"action":"weep"}]}`,
		"filter":   `{"reset":"daily","filters":[{"action":"weep"}]}`,
		"no JSON":  `reset`,
	} {
		var g guardrails.Guardrail
		assert.ErrorContains(t, decodeGuardrail(text, &g), "sqlstore: ", name)
	}
}

// FuzzDecodeGuardrail requires that settings survive encoding and decoding.
func FuzzDecodeGuardrail(f *testing.F) {
	f.Add(stored)
	f.Add(`{"reset":"lifetime"}`)
	f.Add(`{"reset":"daily","zdr":null,"filters":null,"allowed_models":[null],"limit_nano":-1}`)
	f.Fuzz(func(t *testing.T, text string) {
		var first, second guardrails.Guardrail
		if err := decodeGuardrail(text, &first); err != nil {
			return
		}
		again, err := encodeGuardrail(&first)
		require.NoError(t, err)
		require.NoError(t, decodeGuardrail(again, &second))
		assert.Equal(t, first, second)
	})
}
