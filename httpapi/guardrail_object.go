package httpapi

import (
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

type guardrailObject struct {
	ID               uuid.UUID       `json:"id"`
	Name             string          `json:"name"`
	Description      *string         `json:"description"`
	Workspace        *string         `json:"workspace_id"` // null if the program has no workspaces
	AllowedModels    []string        `json:"allowed_models"`
	IgnoredModels    []string        `json:"ignored_models"`
	AllowedProviders []string        `json:"allowed_providers"`
	IgnoredProviders []string        `json:"ignored_providers"`
	Limit            *router.USD     `json:"limit_usd"`
	Reset            *string         `json:"reset_interval"`
	BYOK             bool            `json:"include_byok_in_budgets"`
	ZDR              *bool           `json:"enforce_zdr"`
	Anthropic        *bool           `json:"enforce_zdr_anthropic"`
	OpenAI           *bool           `json:"enforce_zdr_openai"`
	Google           *bool           `json:"enforce_zdr_google"`
	XAI              *bool           `json:"enforce_zdr_xai"`
	Other            *bool           `json:"enforce_zdr_other"`
	FreePublication  *bool           `json:"enable_free_model_publication"`
	FreeTraining     *bool           `json:"enable_free_model_training"`
	PaidTraining     *bool           `json:"enable_paid_model_training"`
	Builtins         []builtinObject `json:"content_filter_builtins"`
	Filters          []filterObject  `json:"content_filters"`
	CreatedAt        *string         `json:"created_at"`
	UpdatedAt        *string         `json:"updated_at"`
}

type builtinObject struct {
	Slug   string `json:"slug"`
	Action string `json:"action"`
	Label  string `json:"label"`
	Scope  string `json:"scan_scope,omitempty"`
}

type filterObject struct {
	Pattern string  `json:"pattern"`
	Action  string  `json:"action"`
	Label   *string `json:"label"`
}

// The values of scan_scope.
const (
	scanAll  = "all_messages"
	scanUser = "user_only"
)

func describeGuardrail(g guardrails.Guardrail) guardrailObject {
	o := guardrailObject{
		ID: g.ID, Name: g.Name, Description: g.Description,
		AllowedModels: g.AllowedModels, IgnoredModels: g.IgnoredModels,
		AllowedProviders: g.AllowedProviders, IgnoredProviders: g.IgnoredProviders,
		Limit: g.Limit, Reset: resetWord(g.Reset), BYOK: g.BYOK,
		ZDR: g.ZDR.General, Anthropic: g.ZDR.Anthropic, OpenAI: g.ZDR.OpenAI, Google: g.ZDR.Google, XAI: g.ZDR.XAI, Other: g.ZDR.Other,
		FreePublication: g.FreePublication, FreeTraining: g.FreeTraining, PaidTraining: g.PaidTraining,
		Builtins:  make([]builtinObject, len(g.Builtins)),
		CreatedAt: stamp(g.CreatedAt), UpdatedAt: stamp(g.UpdatedAt),
	}
	if g.Workspace != "" {
		o.Workspace = &g.Workspace
	}
	for i, f := range g.Builtins {
		o.Builtins[i] = builtinObject{Slug: f.Slug, Action: f.Action.String(), Label: content.BuiltinLabel(f.Slug)}
		switch {
		case f.UserOnly:
			o.Builtins[i].Scope = scanUser
		case f.Slug == content.PromptInjection:
			o.Builtins[i].Scope = scanAll
		}
	}
	if g.Filters != nil {
		o.Filters = make([]filterObject, len(g.Filters))
	}
	for i, f := range g.Filters {
		o.Filters[i] = filterObject{Pattern: f.Pattern, Action: f.Action.String()}
		if f.Label != "" {
			o.Filters[i].Label = &f.Label
		}
	}
	return o
}

// readGuardrail reads the members that create or change a guardrail. checkGuardrail
// checks their bounds.
func readGuardrail(o object) guardrails.Patch {
	const most = 1 << 30
	o.refuseUnsupported()
	return guardrails.Patch{
		Name: o.text("name", 0, 0), Description: o.nullText("description", 0, 0),
		AllowedModels: o.texts("allowed_models", 0, most), IgnoredModels: o.texts("ignored_models", 0, most),
		AllowedProviders: o.texts("allowed_providers", 0, most), IgnoredProviders: o.texts("ignored_providers", 0, most),
		Limit: o.amount("limit_usd"), Reset: o.reset("reset_interval"), BYOK: o.boolean("include_byok_in_budgets"),
		ZDR:       o.nullBoolean("enforce_zdr"),
		Anthropic: o.nullBoolean("enforce_zdr_anthropic"), OpenAI: o.nullBoolean("enforce_zdr_openai"),
		Google: o.nullBoolean("enforce_zdr_google"), XAI: o.nullBoolean("enforce_zdr_xai"), Other: o.nullBoolean("enforce_zdr_other"),
		PaidTraining: o.nullBoolean("enable_paid_model_training"), FreeTraining: o.nullBoolean("enable_free_model_training"),
		FreePublication: o.nullBoolean("enable_free_model_publication"),
		Builtins: o.filters("content_filter_builtins", "slug", func(entry object) content.Filter {
			// The label is accepted and ignored, because it is read-only.
			return content.Filter{Slug: entry.text("slug", 0, 0).To, UserOnly: entry.word("scan_scope", scanAll, scanUser).To == scanUser}
		}),
		Filters: o.filters("content_filters", "pattern", func(entry object) content.Filter {
			f := content.Filter{Pattern: entry.text("pattern", 0, 0).To}
			if label := entry.nullText("label", 0, 0).To; label != nil {
				f.Label = *label
			}
			return f
		}),
	}
}

// nullBoolean reads a boolean that may be null.
func (o object) nullBoolean(name string) router.Update[*bool] {
	if _, given := o.value(name); o.has(name) && !given {
		return router.To[*bool](nil)
	}
	u := o.boolean(name)
	return router.Update[*bool]{Set: u.Set, To: &u.To}
}

// filters reads a list of filters; null is an empty list. Each entry needs an action
// and the member named need. rest reads the other members.
func (o object) filters(name, need string, rest func(entry object) content.Filter) router.Update[[]content.Filter] {
	raw, given := o.value(name)
	if !given {
		return router.Update[[]content.Filter]{Set: o.has(name)}
	}
	items, ok := jsontext.Elements(raw)
	if !ok {
		o.wrong(name, "must be a list of objects or null")
		return router.Update[[]content.Filter]{}
	}
	known := len(*o.issues)
	list := make([]content.Filter, len(items))
	for i, item := range items {
		at := name + "." + strconv.Itoa(i)
		entry, ok := o.inner(at, item)
		if !ok {
			o.wrong(at, "must be an object")
			continue
		}
		entry.require(need, "action")
		list[i] = rest(entry)
		list[i].Action, _ = content.ParseAction(entry.word("action", "redact", "block", "flag").To)
	}
	return router.Update[[]content.Filter]{Set: len(*o.issues) == known, To: list}
}

// checkGuardrail returns a refusal with every issue of the body and of the patch p that
// was read from it, or nil.
func checkGuardrail(o object, p guardrails.Patch) error {
	err := p.Check()
	if ie, ok := errors.AsType[*systemone.InvalidError](err); ok {
		*o.issues = append(*o.issues, ie.Issues...)
	}
	if errors.Is(err, content.ErrPattern) {
		return &guardrails.PatternError{Issues: *o.issues}
	}
	return o.err()
}
