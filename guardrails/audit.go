package guardrails

import (
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// record is the JSON object of a guardrail or of an assignment in the audit log.
type record map[string]any

// change builds the audit record of a management action.
func (s *Service) change(by router.Actor, action string, id uuid.UUID, before, after record) router.Change {
	return router.Change{
		ID: s.cfg.NewID(), At: s.now(), Actor: by, Action: action, Kind: "guardrail", Object: id.String(),
		Account: by.Principal.Account, Before: before.json(), After: after.json(),
	}
}

// json encodes a record, or returns nil for a nil record. Encoding cannot fail, because
// records hold only strings, numbers, booleans and lists of them.
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

// record returns every field that a patch can change, under its name in the HTTP
// interface.
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

// recordOf returns the record of a guardrail to which p was applied, including the
// warnings about p.
func (s *Service) recordOf(g Guardrail, p Patch) record {
	r := g.record()
	if warnings := s.Warnings(p); warnings != nil {
		r["warnings"] = warnings
	}
	return r
}

// Warnings lists the names in p's lists that the current catalog does not know. Such
// names are stored all the same, because a later catalog may know them.
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
