package main

import (
	"errors"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
)

// patience is how long one item may take: nobody waits at the other end of a line.
const patience = time.Minute

// contextTokens is how many tokens a state may have. Ordinary text has fewer tokens than bytes, so what [shorten]
// leaves always fits.
const contextTokens = 8192

// phrases is how many phrases the questions may have in all: more than the model takes by default, because
// here nobody else waits for it.
const phrases = 2048

// embedded is the whole use of the library: a model in this process, a catalog in which it stands, a router
// that checks and prices its answers. No more than n requests are made of it at once.
func embedded(n int) (router.Decider, error) {
	model, err := similarity.New(similarity.Config{
		Workers: n, Queue: n, Limits: similarity.Limits{StateTokens: contextTokens, Phrases: phrases},
	})
	if err != nil {
		return nil, err
	}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: similarity.Model, Permaslug: similarity.Permaslug}},
		[]router.ProviderInfo{{Slug: "embedded", Client: model}},
		[]router.Endpoint{model.Endpoint("embedded")},
	)
	if err != nil {
		return nil, err
	}
	r, err := router.New(router.Config{Catalog: catalog, Timeout: patience, AttemptTimeout: patience})
	if err != nil {
		return nil, err
	}
	return r.Decide, nil
}

// reason is why an item failed, in one line.
func reason(err error) string {
	text := err.Error()
	if refusal, ok := errors.AsType[*router.Error](err); ok && len(refusal.ExcludedBy) > 0 {
		text += " (excluded by " + strings.Join(refusal.ExcludedBy, ", ") + ")"
	}
	return oneLine(text)
}
