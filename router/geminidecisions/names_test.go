package geminidecisions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestNamesComeBack: whatever questions and options are called, the upstream's choice
// is that of the option whose guidance it saw, and the reply passes the router's check.
func TestNamesComeBack(t *testing.T) {
	names := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " ", "o0", "o1", "q0", "true", "__proto__", "a\nb", "\u00a0x", strings.Repeat("\U0001F600", 129)}))
	rapid.Check(t, func(rt *rapid.T) {
		r := &systemone.Request{State: systemone.Text("Paid twice.")}
		for _, name := range rapid.SliceOfNDistinct(names, 1, 5, rapid.ID).Draw(rt, "questions") {
			q := systemone.Question{Name: name, Kind: systemone.Choice, Instructions: systemone.Text("Owner?")}
			for i, option := range rapid.SliceOfNDistinct(names, 1, 12, rapid.ID).Draw(rt, "options") {
				q.Options = append(q.Options, systemone.Option{Name: option, Guidance: systemone.Text(fmt.Sprintf("guidance %d.", i))})
			}
			r.Questions = append(r.Questions, q)
		}
		chosen := rapid.IntRange(0, 11).Draw(rt, "chosen")
		got, err := client(t, chooser(chosen)).Decide(t.Context(), router.Attempt{Request: r, Model: "m"})
		require.NoError(rt, err)
		require.NoError(rt, systemone.Check(r, got.Answers, systemone.Tolerance{}))
		for _, q := range r.Questions {
			a, ok := got.Answers.Get(q.Name)
			require.True(rt, ok)
			require.Equal(rt, q.Options[chosen%len(q.Options)].Name, a.Choice)
		}
	})
}

// chooser is an upstream that chooses options by their guidance: the one with the
// given number, modulo the number of options.
type chooser int

func (c chooser) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct {
		Questions map[string]struct {
			Criteria map[string]string `json:"criteria"`
		} `json:"questions"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	answers := map[string]any{}
	for name, q := range asked.Questions {
		p, choice := map[string]float64{}, ""
		for option, guidance := range q.Criteria {
			p[option] = 0
			if strings.HasSuffix(guidance, fmt.Sprintf("guidance %d.", int(c)%len(q.Criteria))) {
				p[option], choice = 1, option
			}
		}
		answers[name] = map[string]any{"type": "choice", "choice": choice, "probabilities": p}
	}
	body, err := json.Marshal(map[string]any{"answers": answers})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}, nil
}
