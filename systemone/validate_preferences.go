package systemone

import (
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

const unknownMember = "is not a known member"

// known says whether preferences have a member of that name.
func known(name string) bool {
	switch name {
	case "allow_fallbacks", "data_collection", "enforce_distillable_text", "ignore", "only", "order",
		"max_price", "options", "preferred_max_latency", "preferred_min_throughput", "quantizations",
		"require_parameters", "sort", "zdr":
		return true
	}
	return false
}

func sortWords() []string {
	return []string{string(SortPrice), string(SortThroughput), string(SortLatency), string(SortExacto)}
}

func quantizationWords() []string {
	return []string{"int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32", "unknown"}
}

func mustBeOneOf(words ...string) string {
	return "must be one of " + strings.Join(words, ", ")
}

// preferences notes the problems of preferences.
func (v *validator) preferences(path string, p *Preferences) {
	v.word(path, "data_collection", string(p.DataCollection), "allow", "deny")
	v.names(below(path, "ignore"), p.Ignore)
	v.names(below(path, "order"), p.Order)
	v.names(below(path, "only"), p.Only)
	if p.Only != nil && len(p.Only) == 0 {
		v.add(below(path, "only"), mustNotBeEmpty)
	}
	v.quantizations(below(path, "quantizations"), p.Quantizations)
	v.maxPrice(below(path, "max_price"), p.MaxPrice)
	v.cutoffs(below(path, "preferred_max_latency"), p.PreferredMaxLatency)
	v.cutoffs(below(path, "preferred_min_throughput"), p.PreferredMinThroughput)
	v.word(below(path, "sort"), "by", string(p.Sort.By), sortWords()...)
	v.word(below(path, "sort"), "partition", string(p.Sort.Partition), "model", "none")
	v.providerOptions(below(path, "options"), p.Options)
}

// word notes a word that is not allowed; "" is.
func (v *validator) word(path, name, word string, allowed ...string) {
	if word != "" && !slices.Contains(allowed, word) {
		v.add(below(path, name), mustBeOneOf(allowed...))
	}
}

func (v *validator) quantizations(path string, list []string) {
	if list != nil && len(list) == 0 {
		v.add(path, mustNotBeEmpty)
	}
	for i, q := range list {
		if !slices.Contains(quantizationWords(), q) {
			v.add(element(path, i), mustBeOneOf(quantizationWords()...))
		}
	}
}

func (v *validator) maxPrice(path string, p MaxPrice) {
	for _, c := range []struct {
		name  string
		price *decimal.Decimal
	}{
		{"prompt", p.Prompt},
		{"completion", p.Completion},
		{"request", p.Request},
		{"image", p.Image},
		{"audio", p.Audio},
	} {
		if c.price == nil {
			continue
		}
		if e := c.price.Exponent(); c.price.IsNegative() || e < -maxNumber-maxExponent || e > maxExponent {
			v.add(below(path, c.name), mustBePrice)
		}
	}
}

func (v *validator) cutoffs(path string, c Cutoffs) {
	for _, f := range []struct {
		name   string
		cutoff *float64
	}{{"p50", c.P50}, {"p75", c.P75}, {"p90", c.P90}, {"p99", c.P99}} {
		if f.cutoff != nil && !(*f.cutoff >= 0 && *f.cutoff <= math.MaxFloat64) {
			v.add(below(path, f.name), mustBeCutoff)
		}
	}
}

// providerOptions notes options that are no objects, and a provider that is
// named twice, which would leave open whose options are meant.
func (v *validator) providerOptions(path string, list []ProviderOptions) {
	if len(list) == 0 {
		return
	}
	seen := make(map[string]bool, len(list))
	for _, o := range list {
		folded := strings.ToLower(o.Provider)
		if seen[folded] {
			v.add(below(path, o.Provider), "names a provider that has options already")
		}
		seen[folded] = true
		if value := v.json(path, o.Options, 3, o.Provider); value == nil || value[0] != '{' {
			v.add(below(path, o.Provider), "must be an object")
		}
	}
}
