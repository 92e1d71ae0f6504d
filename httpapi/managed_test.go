package httpapi_test

import (
	"slices"
	"testing"
)

// services gives every rig what it needs for all routes to be there.
func services(tb testing.TB) []option {
	tb.Helper()
	return []option{
		withKeys(),
		withPresets(newPresets(tb, nil)),
		withOrganization(newOrganization(tb)),
		withCredentials(newCredentials(tb, nil)),
	}
}

// allScenarios are those of every route of both handlers.
func allScenarios(tb testing.TB) []scenario {
	tb.Helper()
	return slices.Concat(
		scenarios(),
		nativeScenarios(),
		keyScenarios(),
		presetScenarios(),
		organizationScenarios(),
		credentialScenarios(tb),
		usableScenarios(tb),
	)
}
