package router

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/typednil"
)

// wrong reports a mistake in the configuration at a place such as endpoints[2].
func wrong(list string, i int, format string, args ...any) error {
	return fmt.Errorf("%w: %s[%d]: %s", ErrConfig, list, i, fmt.Sprintf(format, args...))
}

func (c *Catalog) addModels(models []Model) error {
	if len(models) > math.MaxInt32 {
		return fmt.Errorf("%w: too many models", ErrConfig)
	}
	owner := make(map[string]int, 2*len(models)) // owners of names with an author and of aliases
	for i, m := range models {
		if m.Name == "" {
			m.Name = m.ID
		}
		m.Aliases, m.Categories, m.Stages = slices.Clone(m.Aliases), slices.Clone(m.Categories), slices.Clone(m.Stages)
		if err := checkModel(i, &m); err != nil {
			return err
		}
		for _, name := range claims(&m) {
			if other, taken := owner[fold(name)]; taken && other != i {
				return wrong("models", i, "%q names %s already", name, models[other].ID)
			}
			owner[fold(name)] = i
		}
		c.models = append(c.models, &m)
	}
	c.nameModels()
	c.byModel = make(map[*Model]int32, len(c.models))
	for i, m := range c.models {
		c.byModel[m] = int32(i)
	}
	return c.addStages()
}

// claims lists the names that no two models may share. Bare ids are not among them,
// because they may be ambiguous.
func claims(m *Model) []string {
	names := modelNames(m)
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.Contains(name, "/") && !slices.Contains(m.Aliases, name)
	})
}

func checkModel(i int, m *Model) error {
	for _, id := range []struct{ field, value string }{{"ID", m.ID}, {"Permaslug", m.Permaslug}} {
		author, name, _ := strings.Cut(id.value, "/")
		if !isWord(author, true) || !isWord(name, true) {
			return wrong("models", i, "%s %q is not of the form author/name", id.field, id.value)
		}
	}
	if author, _, _ := strings.Cut(m.Permaslug, "/"); !strings.EqualFold(author, m.Author()) {
		return wrong("models", i, "the dated id %q is not of the author of %s", m.Permaslug, m.ID)
	}
	for _, alias := range m.Aliases {
		if !isWord(alias, true) {
			return wrong("models", i, "%s: %q is not an alias: it must be a bare name", m.ID, alias)
		}
	}
	if m.ContextLength < 0 {
		return wrong("models", i, "%s: negative context length", m.ID)
	}
	return nil
}

// isWord reports whether s consists of lower-case letters, digits and ._- between
// letters or digits. With upper, upper-case letters are allowed too.
func isWord(s string, upper bool) bool {
	for i := range len(s) {
		switch b := s[i]; {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', upper && 'A' <= b && b <= 'Z':
		case (b == '.' || b == '_' || b == '-') && i > 0 && i < len(s)-1:
		default:
			return false
		}
	}
	return s != ""
}

func (c *Catalog) addProviders(providers []ProviderInfo) error {
	if len(providers) > math.MaxInt32 {
		return fmt.Errorf("%w: too many providers", ErrConfig)
	}
	c.bySlug = make(map[string]*ProviderInfo, len(providers))
	c.targets = make(map[string]int32, 2*len(providers))
	for i, p := range providers {
		if !isWord(p.Slug, false) {
			return wrong("providers", i, "%q is not a slug: lower-case letters, digits and ._- between them", p.Slug)
		}
		if c.bySlug[p.Slug] != nil {
			return wrong("providers", i, "a second provider %s", p.Slug)
		}
		if typednil.Is(p.Client) {
			return wrong("providers", i, "Client of %s holds a nil", p.Slug)
		}
		if p.Name == "" {
			p.Name = p.Slug
		}
		if other, taken := c.targets[fold(p.Name)]; taken {
			return wrong("providers", i, "%s has the display name %q of %s", p.Slug, p.Name, c.providers[other].Slug)
		}
		c.targets[fold(p.Name)] = int32(i)
		c.bySlug[p.Slug] = &p
		c.providers = append(c.providers, &p)
	}
	for i, p := range c.providers { // a provider's slug wins over another's display name
		c.targets[p.Slug] = int32(i)
	}
	return nil
}

func (c *Catalog) addEndpoints(endpoints []Endpoint) error {
	if len(endpoints) > math.MaxInt32-len(c.providers) {
		return fmt.Errorf("%w: too many endpoints", ErrConfig)
	}
	tags := make(map[string]int32)
	places, ids := make(map[string]int), make(map[uuid.UUID]int)
	for i, e := range endpoints {
		e.Parameters = slices.Clone(e.Parameters)
		s, err := c.makeSpec(i, &e)
		if err != nil {
			return err
		}
		place := e.Tag() + " " + e.Model
		if other, taken := places[place]; taken {
			return wrong("endpoints", i, "%s is endpoints[%d] already", place, other)
		}
		if e.ID == uuid.Nil {
			e.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte(endpointSpace+place))
		}
		if other, taken := ids[e.ID]; taken {
			return wrong("endpoints", i, "%s has the id of endpoints[%d]", place, other)
		}
		places[place], ids[e.ID] = i, i
		tag, known := tags[e.Tag()]
		if !known {
			tag = int32(len(c.providers) + len(tags)) //nolint:gosec // bounded above
			tags[e.Tag()] = tag
			if e.Variant != "" {
				c.targets[e.Tag()] = tag
			}
		}
		s.tag = tag
		c.lasts = c.lasts || e.LastResort
		c.endpoints = append(c.endpoints, &e)
		c.specs = append(c.specs, s)
	}
	c.nTargets = len(c.providers) + len(tags)
	c.sortSpecs()
	return nil
}

// sortSpecs sorts the endpoints by model, then by slug with variant.
func (c *Catalog) sortSpecs() {
	slices.SortFunc(c.specs, func(a, b spec) int {
		return cmp.Or(cmp.Compare(c.byModel[a.model], c.byModel[b.model]), cmp.Compare(a.endpoint.Tag(), b.endpoint.Tag()))
	})
	c.served = make([]span, len(c.models))
	c.byID = make(map[uuid.UUID]int32, len(c.specs))
	c.inSpecs = make([]*Endpoint, len(c.specs))
	for i := range c.specs {
		c.inSpecs[i] = c.specs[i].endpoint
		c.byID[c.specs[i].endpoint.ID] = int32(i)
		at := &c.served[c.byModel[c.specs[i].model]]
		if at.to == 0 {
			at.from = int32(i)
		}
		at.to = int32(i) + 1
	}
}

// makeSpec checks one endpoint and computes its spec.
func (c *Catalog) makeSpec(i int, e *Endpoint) (spec, error) {
	provider, ok := c.targets[e.Provider]
	if !ok || c.bySlug[e.Provider] == nil {
		return spec{}, wrong("endpoints", i, "unknown provider %q", e.Provider)
	}
	model := c.modelByID(e.Model)
	if model == nil {
		return spec{}, wrong("endpoints", i, "%s: unknown model %q", e.Tag(), e.Model)
	}
	if model.composed() {
		return spec{}, wrong("endpoints", i, "%s: %s is made of stages and has no endpoints", e.Tag(), model.ID)
	}
	e.Model, e.model = model.ID, model
	if e.UpstreamModel == "" {
		e.UpstreamModel = model.ID
	}
	quant, group := quantizations(e.Quantization), groupOf(e.Group, model)
	s := spec{
		endpoint: e,
		fee:      e.Pricing.amount(0, 0),
		prompt:   count(e.Pricing.Prompt.usd), completion: count(e.Pricing.Completion.usd),
		model:    model,
		index:    int32(i), //nolint:gosec // bounded by addEndpoints
		provider: provider,
		traits:   traitsOf(e, model, quant, group),
	}
	if problem := c.endpointProblem(e, quant, group); problem != "" {
		return spec{}, wrong("endpoints", i, "%s of %s: %s", e.Tag(), model.ID, problem)
	}
	return s, nil
}

func (c *Catalog) endpointProblem(e *Endpoint, quant uint16, group uint8) string {
	l := e.Limits
	switch {
	case e.Variant != "" && !isWord(e.Variant, false):
		return fmt.Sprintf("%q is not a variant: lower-case letters, digits and ._- between them", e.Variant)
	case e.Pricing.problem() != "":
		return e.Pricing.problem()
	case quant == 0:
		return fmt.Sprintf("unknown quantization %q", e.Quantization)
	case group == noGroup:
		return fmt.Sprintf("unknown group %q", e.Group)
	case e.ZDR && e.CollectsData:
		return "zero retention and collecting data exclude each other"
	case min(e.ContextLength, l.Questions, l.Options, l.Levels, l.Concurrency, e.Counting.InputTokens, e.Counting.CompletionTokens) < 0:
		return "negative limit"
	case !(e.Counting.TokensPerByte >= 0 && e.Counting.TokensPerByte <= maxTokensPerByte):
		return fmt.Sprintf("tokens per byte outside 0 to %d", maxTokensPerByte)
	case e.AttemptTimeout < 0:
		return "negative attempt timeout"
	case !(e.Tolerance.Rounding >= 0 && e.Tolerance.Rounding < 1):
		return "a rounding outside 0 to 1"
	case !e.Off && c.bySlug[e.Provider].Client == nil:
		return "its provider has no client"
	}
	for _, p := range e.Parameters {
		if p != parameterUser {
			return fmt.Sprintf("unknown parameter %q", p)
		}
	}
	return ""
}

// modelByID returns the model with an id, or nil; case does not matter.
func (c *Catalog) modelByID(id string) *Model {
	for _, i := range c.named(id) {
		if strings.EqualFold(c.models[i].ID, id) {
			return c.models[i]
		}
	}
	return nil
}
