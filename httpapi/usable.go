package httpapi

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// listUserModels serves GET /models/user: the models that the caller may use, with the
// prices of the endpoints that the caller may use.
func (x *exchange) listUserModels(ctx context.Context) error {
	usable, err := x.usable(ctx)
	if err != nil {
		return err
	}
	list, _, err := x.models(usable)
	if err != nil {
		return err
	}
	x.out = appendJSON(x.out, list)
	return nil
}

// listZDREndpoints serves GET /endpoints/zdr: the endpoints with zero data retention
// that the caller may use.
func (x *exchange) listZDREndpoints(ctx context.Context) error {
	usable, err := x.usable(ctx)
	if err != nil {
		return err
	}
	list := []endpointObject{}
	listed := map[*router.Endpoint]bool{} // a model made of stages shares those of others
	for _, m := range usable {
		for _, e := range m.endpoints {
			if e.ZDR && !listed[e] {
				listed[e] = true
				list = append(list, x.s.describeEndpoint(m.catalog.Model(e.Model), e))
			}
		}
	}
	x.out = appendJSON(x.out, data{list})
	return nil
}

// shown returns the public catalog, or only what the caller may use if the caller's
// account wants its keys to see no more.
func (x *exchange) shown(ctx context.Context) ([]served, error) {
	if x.principal != (router.Principal{}) && x.s.FilteredCatalog != nil {
		filtered, err := x.s.FilteredCatalog(ctx, x.principal.Account)
		if err != nil {
			return nil, fmt.Errorf("httpapi: checking whether the catalog is filtered: %w", err)
		}
		if filtered {
			return x.usable(ctx)
		}
	}
	return servedBy(x.s.Router.Catalog(), nil), nil
}

// usable returns the models and endpoints that the caller may use.
func (x *exchange) usable(ctx context.Context) ([]served, error) {
	var rules []router.Rule
	if x.s.Policy != nil {
		var err error
		rules, err = x.s.Policy(ctx, x.principal)
		if errors.Is(err, organization.ErrNotFound) { // the workspace was deleted, and the key with it
			return nil, keys.ErrRefused
		}
		if err != nil {
			return nil, fmt.Errorf("httpapi: reading what the caller may use: %w", err)
		}
	}
	return servedBy(x.s.Router.Catalog(), rules), nil
}

// servedBy returns the models with at least one endpoint that the rules allow, in the
// catalog's order.
func servedBy(catalog *router.Catalog, rules []router.Rule) []served {
	usable := router.Usable(catalog, rules)
	var all []served
	for i, m := range catalog.Models() {
		if len(usable[i]) > 0 {
			all = append(all, served{m, catalog, usable[i]})
		}
	}
	return all
}
