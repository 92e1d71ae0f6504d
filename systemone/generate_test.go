package systemone_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// The generators draw valid requests, and answers of a correct endpoint that
// rounds.

func guidance() *rapid.Generator[json.RawMessage] {
	return rapid.OneOf(
		rapid.Map(rapid.String(), systemone.Text),
		rapid.Map(rapid.String(), func(s string) json.RawMessage {
			return slices.Concat([]byte(`{"a":[`), systemone.Text(s), []byte(`, 1e400, null]}`))
		}),
		rapid.Just(json.RawMessage(`[ ]`)),
	)
}

// orNull also draws nil in the native dialect.
func orNull(d systemone.Dialect) *rapid.Generator[json.RawMessage] {
	if d == systemone.Native {
		return rapid.OneOf(guidance(), rapid.Just(json.RawMessage(nil)))
	}
	return guidance()
}

func requests(d systemone.Dialect) *rapid.Generator[*systemone.Request] {
	return rapid.Custom(func(t *rapid.T) *systemone.Request {
		r := &systemone.Request{
			Dialect:   d,
			Model:     rapid.StringN(1, 20, -1).Draw(t, "model"),
			Preset:    rapid.StringN(0, 20, -1).Draw(t, "preset"),
			State:     orNull(d).Draw(t, "state"),
			SessionID: rapid.StringN(0, 256, -1).Draw(t, "session"),
			User:      rapid.StringN(0, 256, -1).Draw(t, "user"),
			Trace:     optional(t, rapid.Just(json.RawMessage(`{"trace_id":"x","y":[1]}`)), "trace"),
			Provider:  optional(t, preferences(), "provider"),
			Routing:   optional(t, routings(), "routing"),
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 20, -1), 1, 5, rapid.ID).Draw(t, "names") {
			q := systemone.Question{Name: name, Instructions: orNull(d).Draw(t, "instructions")}
			switch q.Kind = rapid.SampledFrom([]systemone.Kind{systemone.Noul, systemone.Choice, systemone.Score}).Draw(t, "kind"); q.Kind {
			case systemone.Noul:
				if rapid.Bool().Draw(t, "criteria") {
					q.True, q.False = orNull(d).Draw(t, "true"), orNull(d).Draw(t, "false")
				}
			case systemone.Choice:
				for _, option := range rapid.SliceOfNDistinct(rapid.String(), 1, 12, rapid.ID).Draw(t, "options") {
					g := orNull(systemone.Native).Draw(t, "guidance")
					q.Options = append(q.Options, systemone.Option{Name: option, Guidance: g})
				}
			case systemone.Score:
				q.Levels = rapid.SliceOfN(orNull(d), 1, 12).Draw(t, "levels")
			}
			r.Questions = append(r.Questions, q)
		}
		r.Models = optional(t, entries(r.Questions), "models")
		return r
	})
}

func routings() *rapid.Generator[*systemone.Routing] {
	return rapid.Custom(func(t *rapid.T) *systemone.Routing {
		return &systemone.Routing{
			MaxCost:    rapid.SampledFrom([]string{"", "0", "0.05", "0.000000001", "9000000000"}).Draw(t, "max_cost"),
			DeadlineMS: rapid.IntRange(0, 600_000).Draw(t, "deadline"),
			Split:      rapid.SampledFrom([]systemone.Split{"", "auto", "never"}).Draw(t, "split"),
			Remember:   rapid.SampledFrom([]systemone.Remember{"", "off", "read", "write"}).Draw(t, "remember"),
		}
	})
}

func optional[T any](t *rapid.T, g *rapid.Generator[T], name string) (none T) {
	if rapid.Bool().Draw(t, name+" given") {
		return g.Draw(t, name)
	}
	return none
}

func preferences() *rapid.Generator[*systemone.Preferences] {
	names := rapid.SliceOfN(rapid.StringN(1, 10, -1), 1, 3)
	price := rapid.Custom(func(t *rapid.T) *decimal.Decimal {
		return new(decimal.New(rapid.Int64Min(0).Draw(t, "coefficient"), rapid.Int32Range(-40, 40).Draw(t, "exponent")))
	})
	cutoff := rapid.Custom(func(t *rapid.T) *float64 {
		return new(rapid.Float64Range(0, math.MaxFloat64).Draw(t, "cutoff"))
	})
	return rapid.Custom(func(t *rapid.T) *systemone.Preferences {
		return &systemone.Preferences{
			AllowFallbacks:         optional(t, rapid.Ptr(rapid.Bool(), true), "allow_fallbacks"),
			DataCollection:         rapid.SampledFrom([]systemone.DataCollection{"", "allow", "deny"}).Draw(t, "data_collection"),
			EnforceDistillableText: rapid.Bool().Draw(t, "distillable"),
			Ignore:                 optional(t, names, "ignore"),
			Only:                   optional(t, names, "only"),
			Order:                  optional(t, names, "order"),
			MaxPrice:               systemone.MaxPrice{Prompt: optional(t, price, "prompt"), Audio: optional(t, price, "audio")},
			Options:                optional(t, rapid.Just([]systemone.ProviderOptions{{Provider: "ant", Options: []byte(`{"a":1}`)}}), "options"),
			PreferredMaxLatency:    systemone.Cutoffs{P50: optional(t, cutoff, "p50"), P90: optional(t, cutoff, "p90")},
			PreferredMinThroughput: systemone.Cutoffs{P75: optional(t, cutoff, "p75"), P99: optional(t, cutoff, "p99")},
			Quantizations:          optional(t, rapid.Just([]string{"fp8", "unknown"}), "quantizations"),
			RequireParameters:      rapid.Bool().Draw(t, "require_parameters"),
			Sort: systemone.Sort{
				By:        rapid.SampledFrom([]systemone.SortBy{"", "price", "throughput", "latency", "exacto"}).Draw(t, "by"),
				Partition: rapid.SampledFrom([]systemone.Partition{"", "model", "none"}).Draw(t, "partition"),
			},
			ZDR: rapid.Bool().Draw(t, "zdr"),
		}
	})
}

// units draws the units to which endpoints round; 0 is no rounding.
func units() *rapid.Generator[float64] {
	return rapid.SampledFrom([]float64{0, 1e-6, 1e-4, 0.001, 0.01, 0.1})
}

func round(x, unit float64) float64 {
	if unit == 0 {
		return x
	}
	return math.Round(x/unit) * unit
}

// distribution draws probabilities that are not all rounded to zero.
func distribution(n int, unit float64) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, "p")
		p[rapid.IntRange(0, n-1).Draw(t, "sure")] += 0.5
		systemone.Renormalise(p)
		return p
	}).Filter(func(p []float64) bool { return round(slices.Max(p), unit) > 0 })
}

// honest draws the answers of an endpoint that knows the true distribution and
// rounds it to unit, in any order.
func honest(r *systemone.Request, unit float64, none bool) *rapid.Generator[systemone.Answers] {
	return rapid.Custom(func(t *rapid.T) systemone.Answers {
		var list systemone.Answers
		for _, q := range r.Questions {
			a := systemone.Answer{Name: q.Name, Kind: q.Kind, Confidence: rapid.Float64().Draw(t, "confidence")}
			switch q.Kind {
			case systemone.Noul:
				a.Noul = round(rapid.Float64Range(0, 1).Draw(t, "noul"), unit)
			case systemone.Choice:
				p := distribution(len(q.Options), unit).Draw(t, "choice")
				a.Choice = q.Options[systemone.Argmax(p, -1)].Name
				for i, x := range p {
					a.Probabilities = append(a.Probabilities, systemone.Probability{Label: q.Options[i].Name, P: round(x, unit)})
				}
			case systemone.Score:
				p := distribution(len(q.Levels), unit).Draw(t, "score")
				a.Score = min(round(systemone.Mean(p), unit), float64(len(p)-1))
				for i, x := range p {
					a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: round(x, unit)})
				}
			}
			if none && rapid.Bool().Draw(t, "no distribution") {
				a.Probabilities = nil
			}
			a.Probabilities = permutation(t, a.Probabilities)
			list = append(list, a)
		}
		return permutation(t, list)
	})
}

func permutation[S ~[]E, E any](t *rapid.T, list S) S {
	if len(list) < 2 {
		return list
	}
	return rapid.Permutation(list).Draw(t, "order")
}
