package router

import "fmt"

// Filter says why an endpoint was removed from a plan. Filters are applied in the
// order of their values, and the first that removes an endpoint is its reason. The
// zero Filter removes nothing.
type Filter uint8

// Every filter.
const (
	FilterAllowedModels Filter = iota + 1
	FilterIgnoredModels
	FilterAllowedProviders
	FilterIgnoredProviders
	FilterTraining // may collect data, or train on it
	FilterZDR      // has no zero retention
	FilterDistillable
	FilterQuantization
	FilterMaxPrice
	FilterParameters    // does not take a required parameter
	FilterContextLength // too short for the state
	FilterQuestions     // more questions than it takes; the next two are the same for options and levels
	FilterOptions
	FilterLevels
	FilterNulls     // has nulls where the endpoint takes none
	FilterOrder     // not in the order of a request without fallbacks
	FilterOffline   // switched off by the operator
	FilterFallbacks // not the first candidate, of a request without fallbacks

	keep Filter = 0
)

// String returns the filter as clients see it: allowed_models, ignored_models,
// allowed_providers, ignored_providers, data_policy:training, data_policy:zdr,
// distillable, quantization, max_price, require_parameters, context_length,
// limits:questions, limits:options, limits:levels, limits:nulls, order, offline
// or allow_fallbacks; "" for the zero Filter.
func (f Filter) String() string {
	words := [...]string{
		keep:                   "",
		FilterAllowedModels:    "allowed_models",
		FilterIgnoredModels:    "ignored_models",
		FilterAllowedProviders: "allowed_providers",
		FilterIgnoredProviders: "ignored_providers",
		FilterTraining:         "data_policy:training",
		FilterZDR:              "data_policy:zdr",
		FilterDistillable:      "distillable",
		FilterQuantization:     "quantization",
		FilterMaxPrice:         "max_price",
		FilterParameters:       "require_parameters",
		FilterContextLength:    "context_length",
		FilterQuestions:        "limits:questions",
		FilterOptions:          "limits:options",
		FilterLevels:           "limits:levels",
		FilterNulls:            "limits:nulls",
		FilterOrder:            "order",
		FilterOffline:          "offline",
		FilterFallbacks:        "allow_fallbacks",
	}
	return words[min(int(f), len(words)-1)]
}

// MarshalText returns the word, also for JSON and slog.
func (f Filter) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Detail says which part of [FilterMaxPrice] removed an endpoint. The zero Detail
// adds nothing.
type Detail uint8

// Every detail.
const (
	DetailPrompt Detail = iota + 1
	DetailCompletion
	DetailRequest
	DetailImage
	DetailAudio
)

// prices are the price caps of a request, by Detail - 1.
type prices [DetailAudio]USD

// String returns the part as clients see it: max_price.prompt,
// max_price.completion, max_price.request, max_price.image or max_price.audio;
// "" for the zero Detail.
func (d Detail) String() string {
	words := [...]string{
		"", "max_price.prompt", "max_price.completion", "max_price.request", "max_price.image", "max_price.audio",
	}
	return words[min(int(d), len(words)-1)]
}

// MarshalText returns the word, also for JSON and slog.
func (d Detail) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Source says which party a rule came from. The zero Source is unknown.
type Source uint8

// Every source of a rule.
const (
	SourceRequest Source = iota + 1
	SourceAccount
	SourceWorkspace
	SourceMember
	SourceKey
)

// String returns the source in a word: request, account, workspace, member or
// key; "" for the zero Source.
func (s Source) String() string {
	words := [...]string{"", "request", "account", "workspace", "member", "key"}
	return words[min(int(s), len(words)-1)]
}

// MarshalText returns the word, also for JSON and slog.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Source) UnmarshalText(text []byte) error {
	for known := range SourceKey + 1 {
		if known.String() == string(text) {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("router: %.40q is no source of rules", text)
}
