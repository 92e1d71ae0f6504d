package main

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/geminidecisions"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/router/systemonehttp"
)

// embed makes the embedded model the client of u.
func (u *upstream) embed(place string) error {
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		return at(place, "%s", plain(err))
	}
	u.info.Client = model
	u.info.NoOwnCredentials = true // the embedded model takes none
	u.endpoint = func(slug, id, _ string) router.Endpoint {
		e := model.Endpoint(slug)
		e.Model = id
		return e
	}
	return nil
}

func (u *upstream) systemOne(place string, p providerConfig, key router.Secret) error {
	name := p.Profile
	if name == "" {
		name = "systemone"
	}
	profile, ok := systemonehttp.ProfileByName(name)
	if !ok {
		return at(place+".profile", "must be one of %s", strings.Join(profileNames(), ", "))
	}
	u.info.NoOwnCredentials = profile.NoOwnKeys
	u.endpoint = profile.Endpoint // of the profile without the changes below
	if profile.User == "" {
		profile.User = "user" // sent only for endpoints that support the parameter
	}
	profile.KeyOptional = true // a provider without api_key_env gets no credential
	if p.SilenceRefuses != nil {
		profile.SilenceRefuses = *p.SilenceRefuses
	}
	return u.connect(place, key, func(key router.Secret) (router.Provider, error) {
		return systemonehttp.New(systemonehttp.Config{BaseURL: p.BaseURL, APIKey: key, Profile: profile, SendTrace: p.SendTrace})
	})
}

func (u *upstream) openAI(place string, p providerConfig, key router.Secret) error {
	return u.connect(place, key, func(key router.Secret) (router.Provider, error) {
		client, err := openaidecisions.New(openaidecisions.Config{BaseURL: p.BaseURL, APIKey: key, KeyOptional: true, SendTrace: p.SendTrace})
		u.endpoint = client.Endpoint
		return client, err
	})
}

func (u *upstream) gemini(place string, p providerConfig, key router.Secret) error {
	return u.connect(place, key, func(key router.Secret) (router.Provider, error) {
		client, err := geminidecisions.New(geminidecisions.Config{BaseURL: p.BaseURL, APIKey: key, KeyOptional: true, SendTrace: p.SendTrace})
		u.endpoint = client.Endpoint
		return client, err
	})
}

// connect makes the client of u. If that also fails without the key, the error names
// base_url, otherwise api_key_env.
func (u *upstream) connect(place string, key router.Secret, client func(router.Secret) (router.Provider, error)) (err error) {
	if u.info.Client, err = client(key); err == nil {
		return nil
	}
	member := ".api_key_env"
	if _, err := client(""); err != nil {
		member = ".base_url"
	}
	return at(place+member, "%s", plain(err))
}

// endpoint translates an endpoint of provider u. A nil u means that no provider has
// the endpoint's slug.
func (e endpointConfig) endpoint(place string, u *upstream) (router.Endpoint, error) {
	if u == nil {
		return router.Endpoint{}, at(place+".provider", "no provider has the slug %q", e.Provider)
	}
	if e.ZDR && e.DataCollection != nil && *e.DataCollection {
		return router.Endpoint{}, at(place+".zdr", "an endpoint that keeps nothing cannot collect data")
	}
	pricing, err := e.Pricing.pricing(place + ".pricing")
	if err != nil {
		return router.Endpoint{}, err
	}
	out := u.endpoint(e.Provider, e.Model, e.UpstreamModel)
	out.Variant = e.Variant
	if u.kind == kindSimilarity && e.UpstreamModel != "" {
		return out, at(place+".upstream_model", "does not belong to a %q provider", kindSimilarity)
	}
	if (u.kind == kindSimilarity || u.kind == kindGemini) && len(e.SupportedParameters) > 0 {
		return out, at(place+".supported_parameters", "a %q provider takes none", u.kind)
	}
	if client, ok := u.info.Client.(*systemonehttp.Client); ok {
		if err := client.CheckModel(cmp.Or(e.UpstreamModel, e.Model)); err != nil {
			return out, at(place+".upstream_model", "%s", plain(err))
		}
	}
	out.Pricing = pricing
	if e.Quantization != "" {
		out.Quantization = e.Quantization
	}
	out.ZDR, out.CollectsData = e.ZDR, !e.ZDR // assume collection unless the operator denies it
	if e.DataCollection != nil {
		out.CollectsData = *e.DataCollection
	}
	if e.ContextLength > 0 {
		out.ContextLength, out.Counting.InputTokens = e.ContextLength, 0
	}
	e.count(&out.Counting)
	if e.LastResort != nil {
		out.LastResort = *e.LastResort
	}
	out.AttemptTimeout = time.Duration(e.AttemptTimeout) * time.Millisecond
	if e.SupportedParameters != nil {
		out.Parameters = e.SupportedParameters
	}
	if e.Rounding != nil {
		out.Tolerance.Rounding = *e.Rounding
	}
	e.Limits.apply(&out.Limits)
	out.Off = u.off
	return out, nil
}

// count applies the operator's bounds of an endpoint's token counts.
func (e endpointConfig) count(to *router.Counting) {
	to.UsageRequired = e.UsageRequired
	if e.TokensPerByte > 0 {
		to.TokensPerByte = e.TokensPerByte
	}
	if e.MaxPrompt > 0 {
		to.InputTokens = e.MaxPrompt
	}
	if e.MaxCompletion > 0 {
		to.CompletionTokens = e.MaxCompletion
	}
}

func (p pricingConfig) pricing(place string) (out router.Pricing, err error) {
	for _, part := range []struct {
		name string
		text *string
		to   *router.Price
	}{{"prompt", p.Prompt, &out.Prompt}, {"completion", p.Completion, &out.Completion}, {"request", p.Request, &out.Request}} {
		if part.text == nil {
			continue
		}
		if *part.text == "" { // perhaps from a variable that is not set: it must not mean free of charge
			return out, at(place+"."+part.name, "is empty")
		}
		price, err := router.ParseUSD(*part.text)
		if err != nil {
			return out, at(place+"."+part.name, "%s", plain(err))
		}
		if price < 0 {
			return out, at(place+"."+part.name, "must not be negative")
		}
		*part.to = price.Price()
	}
	return out, nil
}

func (l limitsConfig) apply(to *router.EndpointLimits) {
	for _, n := range []struct {
		given int
		to    *int
	}{{l.Questions, &to.Questions}, {l.Options, &to.Options}, {l.Levels, &to.Levels}, {l.Concurrency, &to.Concurrency}} {
		if n.given > 0 {
			*n.to = n.given
		}
	}
	if l.Nulls != nil {
		to.NoNulls = !*l.Nulls
		to.OptionNullsOnly = to.OptionNullsOnly && !*l.Nulls
	}
	if l.Parts != nil {
		to.Parts = *l.Parts
	}
}

func profileNames() []string {
	var names []string
	for _, p := range systemonehttp.Profiles() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

func checkURL(text string) error {
	if text == "" {
		return errors.New("is required")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text is left out, because it quotes the address
		return errors.New("is not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Host == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("must not hold credentials: name an environment variable in api_key_env")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("must not have a query or a fragment")
	}
	return nil
}

// plain returns an error's text on one line, without the prefixes of the library's
// packages.
func plain(err error) string {
	text := err.Error()
	if _, after, found := strings.Cut(text, router.ErrConfig.Error()+": "); found {
		text = after
	}
	text = strings.TrimPrefix(text, "router: ")
	return strings.Join(strings.Fields(text), " ")
}
