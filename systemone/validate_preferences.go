package systemone

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

func sorts() []SortBy { return []SortBy{SortPrice, SortThroughput, SortLatency, SortExacto} }

func quantizations() []string {
	return []string{
		"int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32", "unknown",
	}
}

func mustBeOneOf[T ~string](words ...T) string {
	var b strings.Builder
	b.WriteString("must be one of ")
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}

// preferences notes the problems of preferences at the current place.
func (v *validator) preferences(p *Preferences) {
	oneOf(v, "data_collection", p.DataCollection, DataCollectionAllow, DataCollectionDeny)
	v.notEmpty("ignore", p.Ignore)
	v.notEmpty("order", p.Order)
	v.notEmpty("only", p.Only)
	if p.Only != nil && len(p.Only) == 0 {
		v.failAt("only", mustNotBeEmpty)
	}
	v.maxPrice(p.MaxPrice)
	v.enter("options")
	v.providerOptions(p.Options)
	v.leave()
	v.cutoffs("preferred_max_latency", p.PreferredMaxLatency)
	v.cutoffs("preferred_min_throughput", p.PreferredMinThroughput)
	v.quantizations(p.Quantizations)
	v.enter("sort")
	oneOf(v, "by", p.Sort.By, sorts()...)
	oneOf(v, "partition", p.Sort.Partition, PartitionModel, PartitionNone)
	v.leave()
}

// oneOf notes a word that is not allowed; "" always is.
func oneOf[T ~string](v *validator, name string, word T, allowed ...T) {
	if word != "" && !slices.Contains(allowed, word) {
		v.failAt(name, mustBeOneOf(allowed...))
	}
}

func (v *validator) quantizations(list []string) {
	v.enter("quantizations")
	defer v.leave()
	if list != nil && len(list) == 0 {
		v.fail(mustNotBeEmpty)
	}
	for i, q := range list {
		if !slices.Contains(quantizations(), q) {
			v.failAt(strconv.Itoa(i), mustBeOneOf(quantizations()...))
		}
	}
}

func (v *validator) maxPrice(p MaxPrice) {
	v.enter("max_price")
	defer v.leave()
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
		if c.price != nil && (c.price.IsNegative() || !short(*c.price)) {
			v.failAt(c.name, mustBePrice)
		}
	}
}

func (v *validator) cutoffs(name string, c Cutoffs) {
	v.enter(name)
	defer v.leave()
	for _, f := range []struct {
		name   string
		cutoff *float64
	}{{"p50", c.P50}, {"p75", c.P75}, {"p90", c.P90}, {"p99", c.P99}} {
		if f.cutoff != nil && !(*f.cutoff >= 0 && *f.cutoff <= math.MaxFloat64) {
			v.failAt(f.name, mustBeCutoff)
		}
	}
}

// providerOptions notes options that are no objects, and a provider that is named
// twice, because it would be undecided which options apply.
func (v *validator) providerOptions(list []ProviderOptions) {
	if len(list) == 0 {
		return
	}
	seen := make(map[string]bool, len(list))
	for _, o := range list {
		folded := strings.ToLower(o.Provider)
		v.enter(o.Provider)
		if seen[folded] {
			v.fail("names a provider that has options already")
		}
		seen[folded] = true
		if value := v.json(o.Options); value == nil || value[0] != '{' {
			v.fail(mustBeObject)
		}
		v.leave()
	}
}
