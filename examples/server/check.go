package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// report prints the warnings about a valid configuration, and then what it contains.
func (c config) report(catalog *router.Catalog, place string, warnings []string, stdout io.Writer) {
	warnings = append(warnings, c.warnings(catalog)...)
	for _, line := range warnings {
		_, _ = fmt.Fprintf(stdout, "warning: %s\n", line)
	}
	_, _ = fmt.Fprintf(stdout, "%s: sound: %d providers, %d models, %d endpoints, %d warnings\n",
		place, len(c.Providers), len(catalog.Models()), len(c.Endpoints), len(warnings))
}

// warnings lists what is valid and is probably a mistake.
func (c config) warnings(catalog *router.Catalog) []string {
	var list []string
	warn := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for i, p := range c.Providers {
		if !slices.ContainsFunc(c.Endpoints, func(e endpointConfig) bool { return e.Provider == p.Slug }) {
			warn("providers[%d]: %s has no endpoint", i, p.Slug)
		}
		if p.APIKeyEnv != "" && inClear(p.BaseURL) {
			warn("providers[%d].base_url: the credential of %s travels without encryption", i, p.Slug)
		}
	}
	for i, m := range c.Models {
		if m.Stages == nil && !slices.ContainsFunc(c.Endpoints, func(e endpointConfig) bool { return e.Model == m.ID }) {
			warn("models[%d]: %s has no endpoint, so requests for it are refused", i, m.ID)
		}
	}
	for i, e := range c.Endpoints {
		if e.Pricing == (pricingConfig{}) && !c.embedded(e.Provider) {
			warn("endpoints[%d].pricing: is not stated, so %s at %s costs nothing", i, e.Model, e.Provider)
		}
	}
	if firstModel(catalog) == "" {
		warn("endpoints: every one is switched off, so nothing can be asked")
	}
	return list
}

func (c config) embedded(provider string) bool {
	return slices.ContainsFunc(c.Providers, func(p providerConfig) bool { return p.Slug == provider && p.Kind == kindSimilarity })
}

// inClear reports whether requests to an address leave the machine unencrypted.
func inClear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}
