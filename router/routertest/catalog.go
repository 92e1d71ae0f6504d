package routertest

import "github.com/signalbox/signalbox/router"

// Model and Provider are the names in the catalogs that [Catalog] returns.
const (
	Model    = "acme/judge"
	Provider = "acme"
)

// Catalog returns a catalog with one model, acme/judge, served by provider, which
// has the slug acme and no prices.
func Catalog(provider router.Provider) (*router.Catalog, error) {
	return router.NewCatalog(
		[]router.Model{{ID: Model, Permaslug: Model + "-20260901"}},
		[]router.ProviderInfo{{Slug: Provider, Client: provider}},
		[]router.Endpoint{{Provider: Provider, Model: Model, UpstreamModel: "judge-1"}},
	)
}
