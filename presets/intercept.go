package presets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// mark stands between a model and a preset in the model of a request.
const mark = "@preset/"

// Intercept puts presets in place of their names. A request names one by its
// preset, by "@preset/<slug>" as its model, or by "<model>@preset/<slug>". The
// preset is looked for in the workspace of the call's principal and then in
// the account's default one. The request's members win over the preset's:
// a request that names any model takes neither model nor models from the
// preset, and one with a provider, be it empty, takes none. A preset that there
// is not, or that is not active, is a [router.NotFound]. A request that names
// two different ones is a [*systemone.InvalidError].
//
// A change made through this Service acts at once; one made by another process
// within 10 s. A request without a preset costs nothing.
func (s *Service) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		if q := c.Request; q != nil && (q.Preset != "" || strings.Contains(q.Model, mark)) {
			resolved, err := s.resolve(ctx, c.Principal, q)
			if err != nil {
				return nil, err
			}
			c.Request = resolved
		}
		return next(ctx, c)
	}
}

// resolve returns a copy of q with its preset applied.
func (s *Service) resolve(ctx context.Context, who router.Principal, q *systemone.Request) (*systemone.Request, error) {
	model, slug, marked := strings.Cut(q.Model, mark)
	switch {
	case !marked:
		slug = q.Preset
	case q.Preset != "" && q.Preset != slug:
		return nil, &systemone.InvalidError{Issues: []systemone.Issue{{Path: "preset", Message: "differs from the preset that model names"}}}
	}
	preset, err := s.lookup(ctx, who, slug)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, &router.Error{Class: router.NotFound, Err: err}
	case err != nil:
		return nil, err
	}
	resolved := *q
	resolved.Preset, resolved.Model = "", model
	if model == "" && len(q.Models) == 0 {
		resolved.Model, resolved.Models = preset.model, preset.models
	}
	if q.Provider == nil {
		resolved.Provider = preset.provider
	}
	return &resolved, nil
}

// lookup finds what a principal means by a slug, or ErrNotFound.
func (s *Service) lookup(ctx context.Context, who router.Principal, slug string) (*settings, error) {
	if !validSlug(slug) {
		return nil, ErrNotFound
	}
	return s.cache.Get(ctx, name{who.Account, who.Workspace, slug})
}

// load reads for the cache what requests mean by a slug.
func (s *Service) load(ctx context.Context, n name) (*settings, error) {
	p, err := s.find(ctx, n)
	switch {
	case err != nil:
		return nil, fmt.Errorf("presets: look up: %w", err)
	case p.Status != Active:
		return nil, ErrNotFound
	}
	found, err := settingsOf(p.Designated)
	if err != nil {
		return nil, &router.Error{Class: router.Server, Err: err} // not the caller's fault, whatever err is
	}
	return found, nil
}

// find looks in the workspace of the request's key and then in the default one. A
// preset that is not active hides one of the same name behind it.
func (s *Service) find(ctx context.Context, n name) (Preset, error) {
	if n.workspace != "" {
		p, err := s.cfg.Store.Get(ctx, n.account, n.workspace, n.slug)
		if !errors.Is(err, ErrNotFound) {
			return p, err
		}
	}
	usual, err := s.cfg.Workspace(ctx, n.account, "")
	if err != nil {
		return Preset{}, err
	}
	if usual == n.workspace && usual != "" {
		return Preset{}, ErrNotFound
	}
	return s.cfg.Store.Get(ctx, n.account, usual, n.slug)
}

// settingsOf reads what of a version acts on a decision.
func settingsOf(v Version) (*settings, error) {
	var config struct {
		Model    string          `json:"model"`
		Models   []string        `json:"models"`
		Provider json.RawMessage `json:"provider"`
	}
	if err := json.Unmarshal(v.Config, &config); err != nil {
		return nil, fmt.Errorf("presets: version %s: %w", v.ID, err)
	}
	got := &settings{model: config.Model, models: config.Models}
	if config.Provider != nil {
		var err error
		if got.provider, err = systemone.DecodePreferences(config.Provider); err != nil {
			return nil, fmt.Errorf("presets: version %s: %w", v.ID, err)
		}
	}
	return got, nil
}
