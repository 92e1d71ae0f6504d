package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/systemone"
)

// TestOurClientAtOurDoor asks through the client of the dialect. What comes back is what
// the provider behind the door answered, question by question.
func TestOurClientAtOurDoor(t *testing.T) {
	g := newRig(t)
	mux := http.NewServeMux()
	mux.Handle("/v1/", http.StripPrefix("/v1", g.native))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client, err := openaidecisions.New(openaidecisions.Config{BaseURL: server.URL + "/v1", APIKey: g.keys["inference"]})
	require.NoError(t, err)
	req, err := systemone.Decoder{Dialect: systemone.Native}.Decode([]byte(`{"model":"acme/judge","state":{"ticket":"Paid twice"},"questions":{
		"refund":{"type":"noul","instructions":{"about":"money"},"criteria":{"true":"explicit","false":null}},
		"bare":{"type":"noul"},
		"desk":{"type":"choice","instructions":"Owner?","criteria":{"billing":{"of":"charges"},"tech":null,"true":"yes"}},
		"heat":{"type":"score","instructions":["Upset?"],"criteria":["calm",null,{"as":"furious"}]}}}`))
	require.NoError(t, err)
	got, err := client.Decide(t.Context(), router.Attempt{Request: req, Model: "acme/judge", User: "u-1", RequestID: "req-1"})
	require.NoError(t, err)
	assert.Equal(t, "acme/judge-20260901", got.Model)
	assert.Equal(t, systemone.Usage{InputTokens: 310, OutputTokens: 58, CachedTokens: 256, ReasoningTokens: 12}, got.Usage)
	assert.Empty(t, got.Uncounted)
	want := answer(req).Answers
	for i := range want {
		want[i].Confidence = 0
		if want[i].Kind != systemone.Noul {
			want[i].Confidence = 1 // as the router computes it
		}
	}
	assert.Equal(t, want, got.Answers)

	// The provider was asked the same questions, under other names.
	require.Len(t, g.ant.seen, 1)
	seen := g.ant.seen[0].Request
	assert.JSONEq(t, `{"ticket":"Paid twice"}`, string(seen.State))
	require.Len(t, seen.Questions, 4)
	assert.JSONEq(t, `[{"about":"money"},"Criteria for true:\nexplicit"]`, string(seen.Questions[0].Instructions))
	assert.Equal(t, []string{"billing", "tech", "true"}, optionNames(seen.Questions[2]))
	assert.JSONEq(t, `"{\"of\":\"charges\"}"`, string(seen.Questions[2].Options[0].Guidance))
	assert.Equal(t, []json.RawMessage{systemone.Text("calm"), systemone.Text("1"), systemone.Text(`{"as":"furious"}`)}, seen.Questions[3].Levels)
}

func optionNames(q systemone.Question) (list []string) {
	for _, o := range q.Options {
		list = append(list, o.Name)
	}
	return list
}

// TestLawOurClientAtOurDoor: whatever a System One caller asks through the client of the
// dialect, the provider behind the door sees the same state, options, levels and texts,
// and its answers come back as they were.
func TestLawOurClientAtOurDoor(t *testing.T) {
	g := newRig(t)
	client, err := openaidecisions.New(openaidecisions.Config{
		BaseURL: "http://door.example/v1", APIKey: g.keys["inference"], HTTP: &http.Client{Transport: served{http.StripPrefix("/v1", g.native)}},
	})
	require.NoError(t, err)
	names := rapid.SliceOfNDistinct(rapid.String().Filter(valid), 2, 6, rapid.ID)
	texts := rapid.SliceOfN(rapid.StringN(1, 12, -1).Filter(valid), 2, 6)
	rapid.Check(t, func(t *rapid.T) {
		req := &systemone.Request{Dialect: systemone.Native, Model: "acme/judge", State: systemone.Text(rapid.String().Filter(valid).Draw(t, "state"))}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 20, -1).Filter(valid), 1, 6, rapid.ID).Draw(t, "names") {
			q := systemone.Question{Name: name, Instructions: systemone.Text(rapid.String().Filter(valid).Draw(t, "instructions"))}
			switch q.Kind = rapid.SampledFrom([]systemone.Kind{systemone.Noul, systemone.Choice, systemone.Score}).Draw(t, "kind"); q.Kind {
			case systemone.Noul:
			case systemone.Choice:
				for _, option := range names.Draw(t, "options") {
					q.Options = append(q.Options, systemone.Option{Name: option})
				}
			case systemone.Score:
				for _, level := range texts.Draw(t, "levels") {
					q.Levels = append(q.Levels, systemone.Text(level))
				}
			}
			req.Questions = append(req.Questions, q)
		}
		g.ant.seen, g.bee.seen = nil, nil
		got, err := client.Decide(context.Background(), router.Attempt{Request: req, Model: "acme/judge", RequestID: "req-1"})
		require.NoError(t, err)
		seen := append(g.ant.seen, g.bee.seen...)
		require.Len(t, seen, 1)
		require.JSONEq(t, string(req.State), string(seen[0].Request.State))
		require.Len(t, got.Answers, len(req.Questions))
		for i, q := range seen[0].Request.Questions {
			asked := req.Questions[i]
			require.JSONEq(t, string(asked.Instructions), string(q.Instructions))
			asked.Name, asked.Instructions = q.Name, q.Instructions
			require.Equal(t, asked, q)
		}
		for i, a := range answer(req).Answers {
			b := got.Answers[i]
			a.Confidence, b.Confidence = 0, 0 // the router computes its own
			require.Equal(t, a, b)
		}
	})
}

func valid(s string) bool { return utf8.ValidString(s) }

// served is a transport that calls a handler.
type served struct{ handler http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w.Result(), nil
}
