package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
)

// TestGuardrailsThatNameNothingAreWarnedOf: also those of names that the catalog has
// lost since.
func TestGuardrailsThatNameNothingAreWarnedOf(t *testing.T) {
	c, err := decodeConfig([]byte(plainConfig))
	require.NoError(t, err)
	s := newTestService(t, c)
	by := router.Actor{Principal: router.Principal{Account: demoAccount}}
	_, err = s.Guardrails.Create(t.Context(), by, "", guardrails.Patch{
		Name:             router.To("g"),
		AllowedModels:    router.To([]string{"acme/judge", "acme/gone"}),
		IgnoredProviders: router.To([]string{"up", "down"}),
	})
	require.NoError(t, err)

	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	require.NoError(t, warnOfGuardrails(t.Context(), s.Service, log))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	assert.Contains(t, lines[0], `workspace=default at=allowed_models.1 message="acme/gone is not in the catalog"`)
	assert.Contains(t, lines[1], `at=ignored_providers.1 message="down is not in the catalog"`)
}
