package sqlstore

import (
	"fmt"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// guardrailSettings is the JSON of the fields of a guardrail that no query searches. An
// absent field is the zero value; an empty list is not nil.
type guardrailSettings struct {
	Description      *string        `json:"description,omitzero"`
	AllowedModels    []string       `json:"allowed_models,omitzero"`
	IgnoredModels    []string       `json:"ignored_models,omitzero"`
	AllowedProviders []string       `json:"allowed_providers,omitzero"`
	IgnoredProviders []string       `json:"ignored_providers,omitzero"`
	LimitNano        *int64         `json:"limit_nano,omitzero"`
	Reset            string         `json:"reset"`
	BYOK             bool           `json:"byok,omitzero"`
	ZDR              zdrSettings    `json:"zdr,omitzero"`
	PaidTraining     *bool          `json:"paid_training,omitzero"`
	FreeTraining     *bool          `json:"free_training,omitzero"`
	FreePublication  *bool          `json:"free_publication,omitzero"`
	Builtins         []filterRecord `json:"builtins,omitzero"`
	Filters          []filterRecord `json:"filters,omitzero"`
}

type zdrSettings struct {
	General   *bool `json:"general,omitzero"`
	Anthropic *bool `json:"anthropic,omitzero"`
	OpenAI    *bool `json:"openai,omitzero"`
	Google    *bool `json:"google,omitzero"`
	XAI       *bool `json:"xai,omitzero"`
	Other     *bool `json:"other,omitzero"`
}

type filterRecord struct {
	Slug     string `json:"slug,omitzero"`
	Pattern  string `json:"pattern,omitzero"`
	Action   string `json:"action"`
	Label    string `json:"label,omitzero"`
	UserOnly bool   `json:"user_only,omitzero"`
}

// encodeGuardrail returns the settings of g as JSON.
func encodeGuardrail(g *guardrails.Guardrail) (string, error) {
	return encoded(guardrailSettings{
		Description:   g.Description,
		AllowedModels: g.AllowedModels, IgnoredModels: g.IgnoredModels,
		AllowedProviders: g.AllowedProviders, IgnoredProviders: g.IgnoredProviders,
		LimitNano: nanos(g.Limit), Reset: g.Reset.String(), BYOK: g.BYOK,
		ZDR:          zdrSettings(g.ZDR),
		PaidTraining: g.PaidTraining, FreeTraining: g.FreeTraining, FreePublication: g.FreePublication,
		Builtins: filterRecords(g.Builtins), Filters: filterRecords(g.Filters),
	})
}

func filterRecords(filters []content.Filter) []filterRecord {
	if filters == nil {
		return nil
	}
	records := make([]filterRecord, len(filters))
	for i, f := range filters {
		records[i] = filterRecord{Slug: f.Slug, Pattern: f.Pattern, Action: f.Action.String(), Label: f.Label, UserOnly: f.UserOnly}
	}
	return records
}

// decodeGuardrail sets the fields of g that encodeGuardrail wrote.
func decodeGuardrail(text string, g *guardrails.Guardrail) error {
	s, err := decoded[guardrailSettings](text)
	if err != nil {
		return fmt.Errorf("sqlstore: settings of a guardrail: %w", err)
	}
	reset, ok := router.ParseInterval(s.Reset)
	if !ok {
		return fmt.Errorf("sqlstore: unknown interval %q in the settings of a guardrail", s.Reset)
	}
	g.Description = s.Description
	g.AllowedModels, g.IgnoredModels = s.AllowedModels, s.IgnoredModels
	g.AllowedProviders, g.IgnoredProviders = s.AllowedProviders, s.IgnoredProviders
	g.Limit, g.Reset, g.BYOK = money(s.LimitNano), reset, s.BYOK
	g.ZDR = guardrails.ZDR(s.ZDR)
	g.PaidTraining, g.FreeTraining, g.FreePublication = s.PaidTraining, s.FreeTraining, s.FreePublication
	if g.Builtins, err = filters(s.Builtins); err != nil {
		return err
	}
	g.Filters, err = filters(s.Filters)
	return err
}

func filters(records []filterRecord) ([]content.Filter, error) {
	if records == nil {
		return nil, nil
	}
	list := make([]content.Filter, len(records))
	for i, r := range records {
		action, ok := content.ParseAction(r.Action)
		if !ok {
			return nil, fmt.Errorf("sqlstore: unknown action %q of a filter", r.Action)
		}
		list[i] = content.Filter{Slug: r.Slug, Pattern: r.Pattern, Action: action, Label: r.Label, UserOnly: r.UserOnly}
	}
	return list, nil
}
