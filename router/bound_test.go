package router_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// meter is an upstream that counts bytes and answers every question with long
// numbers.
type meter struct {
	asked          *systemone.Request
	sent, received int64
}

var errNoReply = errors.New("no reply in this dialect")

func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return nil, err
	}
	m.sent += n
	if m.asked == nil {
		return nil, errNoReply
	}
	answer := systemone.Response{ID: "gen-dec-0123456789", Model: "judge-1", Provider: "Ant Cloud", Usage: systemone.Usage{
		InputTokens: 1 << 40, OutputTokens: 1 << 40, ReasoningTokens: 1 << 40, CachedTokens: 1 << 40, Cost: "0.123456789",
	}}
	for i := range m.asked.Questions {
		answer.Answers = append(answer.Answers, longest(&m.asked.Questions[i]))
	}
	body := answer.AppendJSON(nil)
	m.received += int64(len(body))
	return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

// longest returns an answer with as many digits as possible, and with its legends.
func longest(q *systemone.Question) systemone.Answer {
	const p = 0.00012345678901234567
	a := systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: p, Score: p, Confidence: p, Legend: q.Levels}
	for _, o := range q.Options {
		a.Choice = o.Name
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: o.Name, P: p})
	}
	for i := range q.Levels {
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: p})
	}
	return a
}

// drawText draws text that takes more room in JSON than in a string. Now and then
// it draws so much that no fixed part of the bound hides what is missing.
func drawText(t *rapid.T) string {
	text := strings.Join(rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{`"`, `\`, "\n", "\x00", "\x1f", "\x7f", "<", "&", "\u2028", "\U0001F600", "plain"}), rapid.String(),
	), 0, 4).Draw(t, "text"), "")
	return strings.Repeat(text, rapid.SampledFrom([]int{0, 1, 1, 200}).Draw(t, "times"))
}

// drawName draws text that is short enough for a name with a number in front.
func drawName(t *rapid.T) string {
	text := []rune(drawText(t))
	return string(text[:min(len(text), 250)])
}

// drawValue draws JSON, with or without white space, or nil.
func drawValue(t *rapid.T) json.RawMessage {
	var v any
	switch rapid.IntRange(0, 4).Draw(t, "value") {
	case 0:
		return nil
	case 1:
		v = map[string]any{drawText(t): drawText(t), "deep": []any{drawText(t), 0.5, nil, map[string]any{"a": drawText(t)}}}
	case 2:
		v = []any{drawText(t), true, 12}
	default:
		return systemone.Text(drawText(t))
	}
	raw, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
	require.NoError(t, err)
	return raw
}

func drawRequest(t *rapid.T) *systemone.Request {
	q := decision(fmt.Sprintf(`{"options":{"ant":{"prompt_cache_key":%q,"keep_alive":"5m","other":1}}}`, strings.Repeat("k", rapid.IntRange(0, 900).Draw(t, "key"))))
	q.State, q.Questions, q.User = systemone.Text(drawText(t)), nil, drawName(t)
	if state := drawValue(t); state != nil {
		q.State = state
	}
	kinds := []systemone.Kind{systemone.Noul, systemone.Choice, systemone.Score}
	asked := systemone.Question{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Instructions: drawValue(t)}
	name, guidance, labels := drawName(t), drawValue(t), rapid.SampledFrom([]int{1, 12, 120}).Draw(t, "labels")
	switch asked.Kind {
	case systemone.Choice:
		for i := range labels {
			asked.Options = append(asked.Options, systemone.Option{Name: fmt.Sprint(i, name), Guidance: guidance})
		}
	case systemone.Score:
		asked.Levels = slices.Repeat([]json.RawMessage{guidance}, labels)
	default:
		asked.True, asked.False = guidance, drawValue(t)
	}
	for i := range rapid.SampledFrom([]int{1, 6}).Draw(t, "questions") {
		asked.Name = fmt.Sprint(i, name)
		q.Questions = append(q.Questions, asked)
	}
	return q
}

// The bound on a request's cost holds for every dialect: neither the request nor
// the reply has more bytes than the bound has tokens.
func TestBoundHoldsForEveryDialect(t *testing.T) {
	t.Parallel()
	clients := map[string]func(*http.Client) (router.Provider, error){
		"openai": func(c *http.Client) (router.Provider, error) {
			return openaidecisions.New(openaidecisions.Config{BaseURL: "https://api.example.com/v1", APIKey: "sk", HTTP: c})
		},
	}
	verbatim := map[string]bool{}
	for _, p := range systemonehttp.Profiles() {
		verbatim[p.Name] = p.Counting.Verbatim
		clients[p.Name] = func(c *http.Client) (router.Provider, error) {
			return systemonehttp.New(systemonehttp.Config{BaseURL: "https://api.example.com/v1", APIKey: "sk", Profile: p, HTTP: c})
		}
	}
	for name, open := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(draw *rapid.T) {
				m := &meter{}
				client, err := open(&http.Client{Transport: m})
				require.NoError(draw, err)
				q := drawRequest(draw)
				if name != "openai" {
					m.asked = q
				}
				catalog, err := router.NewCatalog(models()[:1], []router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: client}},
					[]router.Endpoint{{Provider: "ant", Model: modelM, UpstreamModel: "judge-1", Parameters: []string{"user"}}})
				require.NoError(draw, err)
				r, err := router.New(router.Config{Catalog: catalog, UserKey: []byte("secret"), MaxAttempts: 1})
				require.NoError(draw, err)
				c := &router.Call{Request: q}
				_, err = r.Decide(t.Context(), c)
				prompt, completion := router.BoundAt(q, &router.Endpoint{Counting: router.Counting{Verbatim: verbatim[name]}})
				require.LessOrEqual(draw, m.sent, prompt)
				require.LessOrEqual(draw, m.received, completion)
				if m.sent == 0 {
					draw.Skip("nothing had to be sent:", err)
				}
			})
		})
	}
}

// TestStatedBounds: the Counting of an endpoint bounds what is held, and nothing
// else does.
func TestStatedBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(draw *rapid.T) {
		q := drawRequest(draw)
		prompt, completion := router.BoundOf(q)
		counting := drawCounting(draw)
		context := rapid.SampledFrom([]int{0, 30, 100_000}).Draw(draw, "context")
		gotPrompt, gotCompletion := router.BoundAt(q, &router.Endpoint{Counting: counting, ContextLength: context})

		plain, _ := router.BoundAt(q, &router.Endpoint{Counting: router.Counting{Verbatim: counting.Verbatim}})
		require.LessOrEqual(draw, plain, prompt)
		want := plain
		if counting.TokensPerByte > 0 {
			want = int64(math.Ceil(float64(plain) * counting.TokensPerByte))
		}
		if most := cmp.Or(counting.InputTokens, context); most > 0 {
			want = min(want, int64(most))
		}
		require.Equal(draw, want, gotPrompt)
		if counting.CompletionTokens > 0 {
			completion = int64(counting.CompletionTokens)
		}
		require.Equal(draw, completion, gotCompletion)
	})
}

// TestHoldsNearTheEstimate bounds the ratio of the hold to the plan's estimate of
// the prompt for typical requests: where nothing is stated, with the profile of a
// hosted service, and where the operator states the rest.
func TestHoldsNearTheEstimate(t *testing.T) {
	t.Parallel()
	hosted, ok := systemonehttp.ProfileByName("typesafe")
	require.True(t, ok)
	stated := hosted.Counting
	stated.TokensPerByte = 0.4
	prose := strings.Repeat("I was charged twice for May and nobody answers my mails. ", 40)
	object := `{"order":{"id":"A-1009","total":12.5,"items":[` + strings.Repeat(`{"sku":"x-1","count":2},`, 80) + `null]}}`
	for _, c := range []struct {
		name   string
		state  json.RawMessage
		within [3]float64 // the most, as a multiple of the estimate
	}{
		{"a line", json.RawMessage(`"My card was charged twice."`), [3]float64{57, 38, 16}},
		{"a letter", systemone.Text(prose), [3]float64{7, 6, 2.5}},
		{"an object", json.RawMessage(object), [3]float64{11, 6, 2.5}},
	} {
		q := decision("")
		q.State = c.state
		estimate := router.ShapeOf(q).PromptTokens
		for i, counting := range []router.Counting{{}, hosted.Counting, stated} {
			prompt, _ := router.BoundAt(q, &router.Endpoint{Counting: counting})
			times := float64(prompt) / float64(estimate)
			t.Logf("%s: %d tokens estimated, %d set aside, %.1f times as many", c.name, estimate, prompt, times)
			require.LessOrEqual(t, times, c.within[i], c.name)
		}
	}
}
