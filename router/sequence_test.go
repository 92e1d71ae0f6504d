package router_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/mock/gomock"

	"github.com/signalbox/signalbox/router"
)

//go:generate go run go.uber.org/mock/mockgen@v0.6.0 -typed -package router_test -destination mock_provider_test.go github.com/signalbox/signalbox/router Provider

// TestSequenceOfCalls: candidates are asked in the order of the plan, and none
// after an answer or after the caller's own fault. A call that is not listed fails
// the test.
func TestSequenceOfCalls(t *testing.T) {
	t.Parallel()
	failure := func(status int, class router.Class) error {
		return &router.UpstreamError{Status: status, Class: class}
	}
	for _, tt := range []struct {
		name  string
		steps []error // by candidate; nil answers
		class router.Class
	}{
		{"the first answers", []error{nil}, ""},
		{"the second answers", []error{failure(500, router.ProviderUnavailable), nil}, ""},
		{"the third answers", []error{failure(429, router.RateLimitExceeded), failure(413, router.PayloadTooLarge), nil}, ""},
		{"the caller is at fault", []error{failure(400, router.InvalidRequest)}, router.InvalidRequest},
		{"and the second says so", []error{failure(500, router.ProviderUnavailable), failure(422, router.InvalidRequest)}, router.InvalidRequest},
		{"nobody answers", []error{failure(503, router.NoCapacity), failure(503, router.NoCapacity), failure(503, router.NoCapacity)}, router.NoCapacity},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctrl := gomock.NewController(t)
			var providers []router.ProviderInfo
			var endpoints []router.Endpoint
			var calls []any
			for i, slug := range []string{"ant", "bee", "cat"} {
				provider := NewMockProvider(ctrl)
				if i < len(tt.steps) {
					good, _ := answer(t.Context(), router.Attempt{})
					calls = append(calls, provider.EXPECT().Decide(gomock.Any(), gomock.Any()).Return(good, tt.steps[i]).Call)
				}
				providers = append(providers, router.ProviderInfo{Slug: slug, Client: provider})
				endpoints = append(endpoints, router.Endpoint{
					Provider: slug, Model: modelM, Pricing: router.Pricing{Prompt: (router.USD(i+1) * router.Dollar).Price()},
				})
			}
			gomock.InOrder(calls...)
			catalog, err := router.NewCatalog(models(), providers, endpoints)
			require.NoError(t, err)
			r, err := router.New(router.Config{Catalog: catalog})
			require.NoError(t, err)
			_, err = r.Decide(t.Context(), &router.Call{Request: decision(byPrice)})
			if tt.class == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tt.class, fault(t, err).Class)
		})
	}
}
