package geminidecisions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/geminidecisions"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// TestConformance holds the client to the public suite, with connections of its
// own and with the http.Transport that encrypted upstreams are asked by.
func TestConformance(t *testing.T) {
	for name, transport := range map[string]func() http.RoundTripper{
		"own connections": func() http.RoundTripper { return nil },
		"transport":       func() http.RoundTripper { return upstream.NewTransport() },
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Run(t, routertest.Wire{
				New: func(t *testing.T, base string, key router.Secret) router.Provider {
					t.Helper()
					c, err := geminidecisions.New(geminidecisions.Config{
						BaseURL: base, APIKey: key, MaxReplyBytes: 1 << 20, HTTP: &http.Client{Transport: transport()},
					})
					require.NoError(t, err)
					return c
				},
				Encode:           encode,
				Model:            "gemini-decision-1",
				Tolerance:        declared().Tolerance,
				RefusesAll:       true,
				RefusalTexts:     true,
				RefusesForSafety: true,
				RetryBody:        retryInfo,
				TooLarge:         2 << 20,
				// Names are the caller's business: nothing of the dialect needs them.
				Forbidden: []string{"refund\"", "heat\"", "desk\""},
			})
		})
	}
}

// retryInfo is the body of a failure with a google.rpc.RetryInfo.
func retryInfo(after time.Duration) []byte {
	return fmt.Appendf(nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%gs"}]}}`, after.Seconds())
}

// encode plays the upstream. Members are written one by one, so that an answer that
// is wanted twice is there twice.
func encode(a router.Attempt, want router.Reply) []byte {
	var asked []systemone.Question
	for _, q := range a.Request.Questions {
		if len(q.Options)+len(q.Levels) != 1 {
			asked = append(asked, q)
		}
	}
	body := map[string]any{"usage": map[string]any{
		"total_input_tokens":       want.Usage.InputTokens,
		"input_tokens_by_modality": []any{map[string]any{"modality": "text", "tokens": want.Usage.InputTokens}},
		"total_output_tokens":      want.Usage.OutputTokens,
		"total_tokens":             want.Usage.InputTokens + want.Usage.OutputTokens,
	}}
	if len(want.Refused) > 0 {
		reason := "other"
		if want.Refused[0].Safety {
			reason = "safety"
		}
		body["prompt_feedback"] = map[string]any{"block_reason": reason, "block_reason_message": want.Refused[0].Text}
	} else {
		var members []string
		for _, x := range want.Answers {
			at := slices.IndexFunc(asked, func(q systemone.Question) bool { return q.Name == x.Name })
			name := "q" + strconv.Itoa(at)
			if at < 0 {
				if slices.ContainsFunc(a.Request.Questions, func(q systemone.Question) bool { return q.Name == x.Name }) {
					continue // has one possible answer
				}
				name = x.Name
			}
			members = append(members, jsonOf(name)+":"+jsonOf(wireAnswer(x)))
		}
		body["answers"] = json.RawMessage("{" + strings.Join(members, ",") + "}")
	}
	return []byte(jsonOf(body))
}

// wireAnswer writes the options of a choice with a name that the dialect does not take
// under their positions, as they were sent.
func wireAnswer(a systemone.Answer) json.RawMessage {
	renamed := a.Kind == systemone.Choice && slices.ContainsFunc(a.Probabilities, func(p systemone.Probability) bool {
		return strings.TrimSpace(p.Label) != p.Label
	})
	label := func(name string) string {
		at := slices.IndexFunc(a.Probabilities, func(p systemone.Probability) bool { return p.Label == name })
		if !renamed || at < 0 {
			return name
		}
		return "o" + strconv.Itoa(at)
	}
	var members []string
	most := 0.0
	for _, p := range a.Probabilities {
		members = append(members, jsonOf(label(p.Label))+":"+jsonOf(p.P))
		most = max(most, p.P)
	}
	list := "{" + strings.Join(members, ",") + "}"
	switch a.Kind {
	case systemone.Choice:
		return json.RawMessage(`{"type":"choice","choice":` + jsonOf(label(a.Choice)) + `,"probabilities":` + list + `,"confidence":` + jsonOf(most) + `}`)
	case systemone.Score:
		return json.RawMessage(`{"type":"score","score":` + jsonOf(a.Score) + `,"probabilities":` + list + `,"confidence":` + jsonOf(most) + `}`)
	default:
		return json.RawMessage(`{"type":"noul","noul":` + jsonOf(a.Noul) + `,"confidence":` + jsonOf(max(a.Noul, 1-a.Noul)) + `}`)
	}
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}
