package content_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/geminidecisions"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// wire records what a client sends, and answers nothing.
type wire struct{ bodies [][]byte }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.bodies = append(w.bodies, append([]byte(r.URL.String()+"\n"), body...))
	return nil, errors.New("no answer")
}

func upstreams(t testing.TB) (*wire, []router.Provider) {
	t.Helper()
	w := &wire{}
	profile, ok := systemonehttp.ProfileByName("systemone")
	require.True(t, ok)
	native, err := systemonehttp.New(systemonehttp.Config{BaseURL: "http://upstream.example/v1", Profile: profile, HTTP: &http.Client{Transport: w}})
	require.NoError(t, err)
	decisions, err := openaidecisions.New(openaidecisions.Config{BaseURL: "http://upstream.example/v1", APIKey: "k", HTTP: &http.Client{Transport: w}})
	require.NoError(t, err)
	gemini, err := geminidecisions.New(geminidecisions.Config{BaseURL: "http://upstream.example/v1", APIKey: "k", HTTP: &http.Client{Transport: w}})
	require.NoError(t, err)
	return w, []router.Provider{native, decisions, gemini}
}

// everyText returns every string, name and number in a JSON text, including those in
// strings that contain JSON.
func everyText(v any) []string {
	switch v := v.(type) {
	case string:
		list := []string{v}
		var inner any
		d := json.NewDecoder(strings.NewReader(v))
		d.UseNumber()
		if d.Decode(&inner) == nil {
			if _, text := inner.(string); !text {
				list = append(list, everyText(inner)...)
			}
		}
		return list
	case json.Number:
		return []string{v.String()}
	case []any:
		var list []string
		for _, e := range v {
			list = append(list, everyText(e)...)
		}
		return list
	case map[string]any:
		var list []string
		for k, e := range v {
			list = append(append(list, k), everyText(e)...)
		}
		return list
	}
	return nil
}

// TestWhatWasFoundIsNotSent plants secrets in requests and searches every byte that is
// sent upstream: no secret that a filter finds is left, wherever it was and however it
// was disguised.
func TestWhatWasFoundIsNotSent(t *testing.T) {
	w, providers := upstreams(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := secrets().Draw(rt, "secret")
		req, where := planted(rt, s)
		require.NoError(rt, req.Validate(systemone.Limits{}), where)
		s.filter.Action = content.Action(rapid.IntRange(0, 2).Draw(rt, "action"))
		scanner := scanner(t, s.filter)
		before, err := json.Marshal(req)
		require.NoError(rt, err)
		v, err := scanner.Scan(rt.Context(), "", req)
		require.NoError(rt, err)
		after, err := json.Marshal(req)
		require.NoError(rt, err)
		require.Equal(rt, string(before), string(after), "a request never changes")
		require.NotEmpty(rt, v.Findings, "%s: nothing was found in %s", where, before)
		if s.filter.Action != content.Redact {
			require.Same(rt, req, v.Request)
			require.Equal(rt, s.filter.Action == content.Block, v.Blocked != nil)
			return
		}
		require.NoError(rt, v.Request.Validate(systemone.Limits{}))
		var options json.RawMessage
		if p := v.Request.Provider; p != nil {
			options = p.Options[0].Options
		}
		w.bodies = w.bodies[:0]
		for _, p := range providers {
			for _, state := range []json.RawMessage{v.Request.State, systemone.UnwrapParts(v.Request.State)} {
				_, err := p.Decide(rt.Context(), router.Attempt{
					Model: "m", Request: &systemone.Request{State: state, Questions: v.Request.Questions}, Options: options,
				})
				require.Error(rt, err)
			}
		}
		require.Len(rt, w.bodies, 2*len(providers))
		for _, body := range w.bodies {
			require.True(rt, utf8.Valid(body))
			_, sent, _ := bytes.Cut(body, []byte("\n"))
			require.NotContains(rt, letters(string(body)), s.core, "%s", body)
			var tree any
			d := json.NewDecoder(bytes.NewReader(sent))
			d.UseNumber()
			require.NoError(rt, d.Decode(&tree))
			for _, text := range everyText(tree) {
				require.NotContains(rt, letters(text), s.core, "%s: %s", where, sent)
			}
		}
	})
}
