package router

import (
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// maxWarnings is the most unknown names of one list that are reported.
const maxWarnings = 100

// ModelCanBe reports whether some catalog could have a model of this name, in a
// list that allows or ignores models. The name is author/name or a bare name as
// [Catalog.Resolve] takes it, but without a suffix such as :floor.
func ModelCanBe(name string) bool {
	author, rest, found := strings.Cut(fold(strings.TrimPrefix(name, "~")), "/")
	if !found {
		return isWord(author, false) && !strings.HasPrefix(name, "~")
	}
	return isWord(author, false) && isWord(rest, false)
}

// ProviderCanBe reports whether some catalog could have a provider of this name, in
// a list that allows, ignores or orders providers. The name is a slug, a slug with
// a variant, or a display name. A name with spaces around it, a *, an empty part
// beside a slash, or a suffix such as :floor can name none.
func ProviderCanBe(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.TrimSpace(part) == "" {
			return false
		}
	}
	_, suffix, _ := strings.Cut(name, ":")
	return name == strings.TrimSpace(name) && !strings.Contains(name, "*") && suffixSort(suffix) == ""
}

// HasModel reports whether a name in a list that allows or ignores models names a
// model of this catalog.
func (c *Catalog) HasModel(name string) bool { return len(c.named(name)) > 0 }

// HasProvider reports whether a name in a list that allows, ignores or orders
// providers names a provider of this catalog, or a variant.
func (c *Catalog) HasProvider(name string) bool {
	_, known := c.targets[fold(name)]
	return known
}

// Unknown warns of names that name nothing in this catalog. It looks at the
// providers of a request's preferences ("provider.order.0", also only and ignore)
// and at the lists of rules ("rules.0.allowed_models.0"). Nil preferences have no
// names. At most the first 100 names of a list are reported.
//
// Such names are legal, because a later catalog may have them. But an allow-list of
// unknown names refuses every request, and an ignore-list of unknown names refuses
// none. So check the rules that you give to [Restrict].
func (c *Catalog) Unknown(preferences *systemone.Preferences, rules ...Rule) []systemone.Issue {
	var warnings []systemone.Issue
	if p := preferences; p != nil {
		warnings = slices.Concat(
			Unknown("provider.order", p.Order, c.HasProvider),
			Unknown("provider.only", p.Only, c.HasProvider),
			Unknown("provider.ignore", p.Ignore, c.HasProvider),
		)
	}
	for i, r := range rules {
		at := "rules." + strconv.Itoa(i)
		warnings = slices.Concat(
			warnings,
			Unknown(at+".allowed_models", r.AllowedModels, c.HasModel),
			Unknown(at+".ignored_models", r.IgnoredModels, c.HasModel),
			Unknown(at+".allowed_providers", r.AllowedProviders, c.HasProvider),
			Unknown(at+".ignored_providers", r.IgnoredProviders, c.HasProvider),
		)
	}
	return warnings
}

// Unknown warns of the names in a list for which known is false, at most the first
// 100. Such names are kept, but name nothing until the catalog has them. A nil
// known warns of none.
func Unknown(path string, names []string, known func(name string) bool) []systemone.Issue {
	var warnings []systemone.Issue
	for i, name := range names {
		if known != nil && !known(name) && len(warnings) < maxWarnings {
			warnings = append(warnings, systemone.Issue{Path: path + "." + strconv.Itoa(i), Message: clip(name) + " is not in the catalog"})
		}
	}
	return warnings
}
