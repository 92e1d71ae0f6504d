package openaidecisions_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// TestConformance runs the public suite, with the client's own connections and with
// the http.Transport that it uses for encrypted upstreams.
func TestConformance(t *testing.T) {
	for name, transport := range map[string]func() http.RoundTripper{
		"own connections": func() http.RoundTripper { return nil },
		"transport":       func() http.RoundTripper { return upstream.NewTransport() },
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Run(t, routertest.Wire{
				New: func(t *testing.T, base string, key router.Secret) router.Provider {
					t.Helper()
					c, err := openaidecisions.New(openaidecisions.Config{
						BaseURL: base, APIKey: key, MaxReplyBytes: 1 << 20, HTTP: &http.Client{Transport: transport()},
					})
					require.NoError(t, err)
					return c
				},
				Encode:       encode,
				Model:        "gpt-6-luna",
				Tolerance:    twoDecimals(),
				Refusals:     true,
				RefusalTexts: true,
				TooLarge:     2 << 20,
				// Names are private to the caller, and the dialect does not need them.
				Forbidden: []string{"refund\"", "heat\"", "desk\""},
			})
		})
	}
}

type wireProbability struct {
	Value       any     `json:"value"`
	Label       string  `json:"label,omitempty"`
	Probability float64 `json:"probability"`
}

// encode plays the upstream: it writes an answer for each question in its order,
// then those that were not asked for.
func encode(a router.Attempt, want router.Reply) []byte {
	answers := []any{}
	left := slices.Clone(want.Answers)
	for _, q := range a.Request.Questions {
		at := slices.IndexFunc(left, func(x systemone.Answer) bool { return x.Name == q.Name })
		refused := slices.IndexFunc(want.Refused, func(r router.Refusal) bool { return r.Question == q.Name })
		switch {
		case refused >= 0:
			refusal := map[string]any{"type": "refusal", "name": nil}
			if text := want.Refused[refused].Text; text != "" {
				refusal["refusal"] = text
			}
			answers = append(answers, refusal)
		case at >= 0:
			if len(q.Options)+len(q.Levels) != 1 {
				answers = append(answers, wireAnswer(left[at], nil))
			}
			left = slices.Delete(left, at, at+1)
		}
	}
	for _, x := range left {
		answers = append(answers, wireAnswer(x, x.Name))
	}
	body, err := json.Marshal(map[string]any{
		"model":   "gpt-6-luna",
		"answers": answers,
		"usage": map[string]any{
			"input_tokens":          want.Usage.InputTokens,
			"input_tokens_details":  map[string]any{"cached_tokens": 0, "cache_write_tokens": 0},
			"output_tokens":         want.Usage.OutputTokens,
			"output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens":          want.Usage.InputTokens + want.Usage.OutputTokens,
		},
	})
	if err != nil {
		return nil
	}
	return body
}

func wireAnswer(a systemone.Answer, name any) map[string]any {
	out := map[string]any{"name": name}
	list := []wireProbability{}
	for _, p := range a.Probabilities {
		item := wireProbability{Value: p.Label, Probability: p.P}
		if i, err := strconv.Atoi(p.Label); err == nil && a.Kind == systemone.Score {
			item.Value, item.Label = i, p.Label
		}
		list = append(list, item)
	}
	switch a.Kind {
	case systemone.Choice:
		out["type"], out["choice"], out["confidence"], out["probabilities"] = "choice", a.Choice, a.Confidence, list
	case systemone.Score:
		out["type"], out["score"], out["confidence"], out["probabilities"] = "score", a.Score, a.Confidence, list
	default:
		out["type"], out["probability"] = "predicate", a.Noul
	}
	return out
}
