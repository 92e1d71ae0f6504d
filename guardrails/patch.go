package guardrails

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/internal/jsonsize"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Bounds of a guardrail. Lengths are in characters.
const (
	maxName        = 200
	maxDescription = 1000
	maxEntries     = 10_000 // in a list of models or providers
	maxEntry       = 256    // length of an entry
	maxFilters     = 100    // in each of the two lists
	maxLabel       = 100
	maxLimit       = 9_000_000_000 * router.Dollar
	maxSize        = 640 << 10 // bytes of all texts as JSON, where 100,000 control characters take 600,000
	maxIssues      = 101       // one more than a reply shows, so that it can say that there are more
)

// Patch is a change of a guardrail's fields, or the fields of a new one. A field that is
// not set keeps its value, or is zero in a new guardrail. The zero Patch changes nothing.
type Patch struct {
	Name                               router.Update[string] // 1 to 200 characters
	Description                        router.Update[*string]
	AllowedModels, IgnoredModels       router.Update[[]string] // nil or at least one entry
	AllowedProviders, IgnoredProviders router.Update[[]string]
	Limit                              router.Update[*router.USD] // 0 to 9,000,000,000 dollars
	Reset                              router.Update[router.Interval]
	BYOK                               router.Update[bool]
	// ZDR sets the general switch and each of the five switches of vendors below. A
	// switch below that is set wins, except a nil beside a ZDR that is not nil.
	ZDR                                         router.Update[*bool]
	Anthropic, OpenAI, Google, XAI, Other       router.Update[*bool]
	PaidTraining, FreeTraining, FreePublication router.Update[*bool]
	Builtins                                    router.Update[[]content.Filter] // with a Slug
	Filters                                     router.Update[[]content.Filter] // with a Pattern of 1 to 100,000 characters and a Label up to 100
}

// PatternError reports a patch with a pattern that cannot be used. It wraps
// [content.ErrPattern] and a [*systemone.InvalidError] with all problems found.
type PatternError struct{ Issues []systemone.Issue }

// Error returns the number of problems.
func (e *PatternError) Error() string {
	return fmt.Sprintf("%v: %d problems", content.ErrPattern, len(e.Issues))
}

// Unwrap returns content.ErrPattern and a *systemone.InvalidError.
func (e *PatternError) Unwrap() []error {
	return []error{content.ErrPattern, &systemone.InvalidError{Issues: e.Issues}}
}

// Check validates p and names each problem by its field in the HTTP interface, up to 101
// problems. It returns nil, a [*systemone.InvalidError], or a [*PatternError] if a
// pattern is among the problems.
//
// All patterns together may have 7,600 instructions. The pattern that exceeds this limit
// is reported with both figures; the patterns after it are not read.
func (p Patch) Check() error {
	var c checker
	if p.Name.Set {
		c.length("name", p.Name.To, 1, maxName)
	}
	if text := given(p.Description); text != nil {
		c.length("description", *text, 0, maxDescription)
	}
	c.list("allowed_models", given(p.AllowedModels), router.ModelCanBe)
	c.list("ignored_models", given(p.IgnoredModels), router.ModelCanBe)
	c.list("allowed_providers", given(p.AllowedProviders), router.ProviderCanBe)
	c.list("ignored_providers", given(p.IgnoredProviders), router.ProviderCanBe)
	if limit := given(p.Limit); limit != nil && (*limit < 0 || *limit > maxLimit) {
		c.wrong("limit_usd", "must be from 0 to 9000000000")
	}
	if _, ok := router.ParseInterval(given(p.Reset).String()); !ok {
		c.wrong("reset_interval", "must be daily, weekly, monthly or null")
	}
	c.builtins(given(p.Builtins))
	c.filters(given(p.Filters))
	switch {
	case c.pattern:
		return &PatternError{Issues: c.issues}
	case len(c.issues) > 0:
		return &systemone.InvalidError{Issues: c.issues}
	}
	return nil
}

// given returns the value that an update sets, or the zero value, which is always valid.
func given[T any](u router.Update[T]) T {
	if !u.Set {
		var none T
		return none
	}
	return u.To
}

// checker collects the problems of a patch.
type checker struct {
	issues  []systemone.Issue
	pattern bool // one of the issues is about a pattern
}

func (c *checker) wrong(path, message string) {
	if len(c.issues) >= maxIssues {
		return
	}
	c.issues = append(c.issues, systemone.Issue{Path: path, Message: message})
}

func (c *checker) length(path, text string, from, most int) {
	switch n := utf8.RuneCountInString(text); {
	case n < from:
		c.wrong(path, "must not be empty")
	case n > most:
		c.wrong(path, "must have at most "+strconv.Itoa(most)+" characters")
	case !router.Storable(text):
		c.wrong(path, "must be UTF-8 without U+0000")
	}
}

// list checks a list of names. It refuses a name that can match nothing, because such an
// entry looks like a rule and has no effect.
func (c *checker) list(path string, list []string, canBe func(name string) bool) {
	if list != nil && (len(list) == 0 || len(list) > maxEntries) {
		c.wrong(path, "must be null or have 1 to "+strconv.Itoa(maxEntries)+" entries")
		return
	}
	for i, entry := range list {
		at, known := path+"."+strconv.Itoa(i), len(c.issues)
		if c.length(at, entry, 1, maxEntry); len(c.issues) == known && !canBe(entry) {
			c.wrong(at, "can name nothing: it must have no spaces around it, no *, no suffix and no empty part")
		}
	}
}

// filterList reports whether a list of filters has an allowed length.
func (c *checker) filterList(path string, list []content.Filter) bool {
	if len(list) > maxFilters {
		c.wrong(path, "must have at most "+strconv.Itoa(maxFilters)+" entries")
		return false
	}
	return true
}

func (c *checker) builtins(list []content.Filter) {
	const path = "content_filter_builtins"
	if !c.filterList(path, list) {
		return
	}
	for i, f := range list {
		at := path + "." + strconv.Itoa(i)
		if content.BuiltinLabel(f.Slug) == "" {
			c.wrong(at+".slug", "is no builtin filter")
		}
		if f.UserOnly && f.Slug != content.PromptInjection { // the other filters ignore it
			c.wrong(at+".scan_scope", "must be all_messages for every filter but "+content.PromptInjection)
		}
		c.action(at, f.Action)
	}
}

func (c *checker) filters(list []content.Filter) {
	const path = "content_filters"
	if !c.filterList(path, list) {
		return
	}
	var budget content.PatternBudget
	for i, f := range list {
		at := path + "." + strconv.Itoa(i)
		if f.UserOnly {
			c.wrong(at+".scan_scope", "is for builtin filters")
		}
		c.action(at, f.Action)
		c.length(at+".label", f.Label, 0, maxLabel)
		known := len(c.issues)
		if c.length(at+".pattern", f.Pattern, 1, content.MaxPattern); len(c.issues) > known {
			continue
		}
		err := budget.Take(f.Pattern)
		if err != nil {
			c.wrong(at+".pattern", err.Error())
			c.pattern = true
		}
		if errors.Is(err, content.ErrTooLarge) {
			return // compiling further patterns costs time, too
		}
	}
}

func (c *checker) action(at string, a content.Action) {
	if a > content.Block {
		c.wrong(at+".action", "must be redact, block or flag")
	}
}

// checkSize refuses a guardrail whose texts are too large in total. The error names the
// field that takes the most bytes.
func (g *Guardrail) checkSize() error {
	filters := 0
	for _, f := range g.Filters {
		filters += jsonsize.Text(f.Pattern) + jsonsize.Text(f.Label)
	}
	sum, largest, at := 0, 0, ""
	for _, member := range []struct {
		name string
		size int
	}{
		{"allowed_models", jsonsize.List(g.AllowedModels)},
		{"ignored_models", jsonsize.List(g.IgnoredModels)},
		{"allowed_providers", jsonsize.List(g.AllowedProviders)},
		{"ignored_providers", jsonsize.List(g.IgnoredProviders)},
		{"content_filters", filters},
	} {
		if sum += member.size; member.size > largest {
			largest, at = member.size, member.name
		}
	}
	if sum <= maxSize {
		return nil
	}
	return invalid(at, "makes the guardrail too large: its lists and patterns must have at most "+strconv.Itoa(maxSize)+
		" bytes as JSON and have "+strconv.Itoa(sum))
}

// grows reports whether p sets a field that checkSize counts.
func (p Patch) grows() bool {
	return p.AllowedModels.Set || p.IgnoredModels.Set || p.AllowedProviders.Set || p.IgnoredProviders.Set || p.Filters.Set
}

// empty reports whether p sets no field.
func (p Patch) empty() bool {
	return !slices.Contains([]bool{
		p.Name.Set, p.Description.Set,
		p.AllowedModels.Set, p.IgnoredModels.Set, p.AllowedProviders.Set, p.IgnoredProviders.Set,
		p.Limit.Set, p.Reset.Set, p.BYOK.Set,
		p.ZDR.Set, p.Anthropic.Set, p.OpenAI.Set, p.Google.Set, p.XAI.Set, p.Other.Set,
		p.PaidTraining.Set, p.FreeTraining.Set, p.FreePublication.Set,
		p.Builtins.Set, p.Filters.Set,
	}, true)
}

// apply returns g with p's changes.
func (p Patch) apply(g Guardrail) Guardrail {
	if p.ZDR.Set {
		g.ZDR = ZDR{General: p.ZDR.To, Anthropic: p.ZDR.To, OpenAI: p.ZDR.To, Google: p.ZDR.To, XAI: p.ZDR.To, Other: p.ZDR.To}
	}
	p.setVendor(&g.ZDR.Anthropic, p.Anthropic)
	p.setVendor(&g.ZDR.OpenAI, p.OpenAI)
	p.setVendor(&g.ZDR.Google, p.Google)
	p.setVendor(&g.ZDR.XAI, p.XAI)
	p.setVendor(&g.ZDR.Other, p.Other)
	set(&g.Name, p.Name)
	set(&g.Description, p.Description)
	set(&g.AllowedModels, p.AllowedModels)
	set(&g.IgnoredModels, p.IgnoredModels)
	set(&g.AllowedProviders, p.AllowedProviders)
	set(&g.IgnoredProviders, p.IgnoredProviders)
	set(&g.Limit, p.Limit)
	set(&g.Reset, p.Reset)
	set(&g.BYOK, p.BYOK)
	set(&g.PaidTraining, p.PaidTraining)
	set(&g.FreeTraining, p.FreeTraining)
	set(&g.FreePublication, p.FreePublication)
	set(&g.Builtins, p.Builtins)
	set(&g.Filters, p.Filters)
	return g
}

// setVendor sets the switch of a vendor. It ignores null if the general switch is true or
// false, because clients write null for a switch that they do not set.
func (p Patch) setVendor(field **bool, u router.Update[*bool]) {
	if u.To != nil || given(p.ZDR) == nil {
		set(field, u)
	}
}

func set[T any](field *T, u router.Update[T]) {
	if u.Set {
		*field = u.To
	}
}
