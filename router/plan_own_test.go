package router_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// No own credential is sent to a provider where it cannot work, because the attempt
// would count as paid by the caller.
func TestNoOwnCredentialGoesWhereItCannotWork(t *testing.T) {
	in := caseInput(t, "K1", "own bee", `{"sort":"price"}`)
	var (
		models    []router.Model
		providers []router.ProviderInfo
		endpoints []router.Endpoint
	)
	for _, m := range in.Catalog.Models() {
		models = append(models, *m)
	}
	for _, p := range in.Catalog.Providers() {
		info := *p
		info.NoOwnCredentials = p.Slug == "bee"
		providers = append(providers, info)
	}
	for _, e := range in.Catalog.Endpoints() {
		endpoints = append(endpoints, *e)
	}
	var err error
	in.Catalog, err = router.NewCatalog(models, providers, endpoints)
	require.NoError(t, err)
	for i := range in.Models {
		in.Models[i].Model = in.Catalog.Model(in.Models[i].Model.ID)
	}
	plan := router.NewPlan(in)
	assert.Equal(t, []string{"ant", "bee", "cat"}, candidates(plan, 1))
	for _, c := range plan.Candidates {
		assert.Nil(t, c.Credential)
	}
}
