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

// mark separates a model from a preset in the model of a request.
const mark = "@preset/"

// Intercept replaces the name of a preset in a request by the preset's settings. A
// request names a preset by its preset member, by "@preset/<slug>" as its model, or
// by "<model>@preset/<slug>". The preset is looked up in the workspace of the call's
// principal, and then in the account's default workspace.
//
// The members of the request take precedence. A request that names any model takes
// neither model nor models from the preset, and a request with a provider member,
// even an empty one, takes no preferences. A preset that does not exist or is not
// active is a [router.NotFound]. A request that names two different presets is a
// [*systemone.InvalidError].
//
// A change made through this Service acts at once, a change made by another process
// within 10 s. A request without a preset needs no lookup.
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

// lookup returns the settings that a slug has for a principal, or ErrNotFound.
func (s *Service) lookup(ctx context.Context, who router.Principal, slug string) (*settings, error) {
	if !validSlug(slug) {
		return nil, ErrNotFound
	}
	return s.cache.Get(ctx, name{who.Account, who.Workspace, slug})
}

// load reads the settings of a name for the cache.
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
		return nil, &router.Error{Class: router.Server, Err: err} // what the store holds is not the caller's mistake
	}
	return found, nil
}

// find looks in the workspace of the request's key and then in the default one. A
// preset that is not active hides a preset of the same name in the default one.
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

// settingsOf returns the settings of a version.
func settingsOf(v Version) (*settings, error) {
	var config struct {
		Model    string            `json:"model"`
		Models   []json.RawMessage `json:"models"`
		Provider json.RawMessage   `json:"provider"`
	}
	if err := json.Unmarshal(v.Config, &config); err != nil {
		return nil, fmt.Errorf("presets: version %s: %w", v.ID, err)
	}
	got := &settings{model: config.Model}
	var err error
	if got.models, err = entriesOf(config.Models); err != nil {
		return nil, fmt.Errorf("presets: version %s: %w", v.ID, err)
	}
	if config.Provider != nil {
		if got.provider, err = systemone.DecodePreferences(config.Provider); err != nil {
			return nil, fmt.Errorf("presets: version %s: %w", v.ID, err)
		}
	}
	return got, nil
}

// entriesOf reads the models of a version. A text is taken as it is, because the
// request that uses the preset is validated again.
func entriesOf(models []json.RawMessage) (list []systemone.Entry, err error) {
	for _, value := range models {
		var e systemone.Entry
		if value[0] == '"' {
			err = json.Unmarshal(value, &e.Model)
		} else {
			err = e.UnmarshalJSON(value)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
