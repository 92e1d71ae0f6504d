package guardrails

import (
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// record is an object as auditors read it.
type record map[string]any

// change is the record of a management action.
func (s *Service) change(by router.Actor, action string, id uuid.UUID, before, after record) router.Change {
	return router.Change{
		ID: s.cfg.NewID(), At: s.now(), Actor: by, Action: action, Kind: "guardrail", Object: id.String(),
		Account: by.Principal.Account, Before: before.json(), After: after.json(),
	}
}

// json writes a record; nil where there is none. Records hold nothing that
// could not be written.
func (r record) json() json.RawMessage {
	if r == nil {
		return nil
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	return raw
}

// record has every field that a patch can change, under the interface's names.
func (g *Guardrail) record() record {
	return record{
		"name": g.Name, "description": g.Description, "workspace_id": g.Workspace,
		"allowed_models": g.AllowedModels, "ignored_models": g.IgnoredModels,
		"allowed_providers": g.AllowedProviders, "ignored_providers": g.IgnoredProviders,
		"limit_usd": g.Limit, "reset_interval": g.Reset.String(), "include_byok_in_budgets": g.BYOK,
		"enforce_zdr": g.ZDR.General, "enforce_zdr_anthropic": g.ZDR.Anthropic, "enforce_zdr_openai": g.ZDR.OpenAI,
		"enforce_zdr_google": g.ZDR.Google, "enforce_zdr_xai": g.ZDR.XAI, "enforce_zdr_other": g.ZDR.Other,
		"enable_paid_model_training": g.PaidTraining, "enable_free_model_training": g.FreeTraining,
		"enable_free_model_publication": g.FreePublication,
		"content_filter_builtins":       records(g.Builtins), "content_filters": records(g.Filters),
	}
}

// recordOf is the record of a guardrail after p, with what p's caller is warned
// of.
func (s *Service) recordOf(g Guardrail, p Patch) record {
	r := g.record()
	if warnings := s.Warnings(p); warnings != nil {
		r["warnings"] = warnings
	}
	return r
}

// Warnings tells of names in p's lists that the catalog in force does not know.
// They are kept: a catalog may have them later.
func (s *Service) Warnings(p Patch) []systemone.Issue {
	return slices.Concat(
		router.Unknown("allowed_models", given(p.AllowedModels), s.cfg.Model),
		router.Unknown("ignored_models", given(p.IgnoredModels), s.cfg.Model),
		router.Unknown("allowed_providers", given(p.AllowedProviders), s.cfg.Provider),
		router.Unknown("ignored_providers", given(p.IgnoredProviders), s.cfg.Provider),
	)
}

func records(filters []content.Filter) []record {
	list := make([]record, len(filters))
	for i, f := range filters {
		list[i] = record{"slug": f.Slug, "pattern": f.Pattern, "action": f.Action.String(), "label": f.Label, "user_only": f.UserOnly}
	}
	return list
}
