package signalbox_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyMetadata is router_metadata, as far as legs and answers go.
type manyMetadata struct {
	Attempts []struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
		Endpoint string `json:"endpoint"`
		Status   int    `json:"status"`
	} `json:"attempts"`
	Legs     []manyLeg                 `json:"legs"`
	Answers  map[string]manyProvenance `json:"answers"`
	Warnings []manyIssue               `json:"warnings"`
}

type manyLeg struct {
	Model       string     `json:"model"`
	Provider    string     `json:"provider"`
	Reason      string     `json:"reason"`
	Asked       []string   `json:"asked"`
	TriggeredBy []string   `json:"triggered_by"`
	Attempts    []int      `json:"attempts"` // into the list of all attempts
	Outcome     string     `json:"outcome"`
	Kept        string     `json:"kept"`
	Usage       *manyUsage `json:"usage"`
}

type manyProvenance struct {
	Leg      int    `json:"leg"`
	Attempt  int    `json:"attempt"` // into the list of all attempts
	Endpoint string `json:"endpoint"`
	Model    string `json:"model"`
	Replaced *struct {
		Leg    int        `json:"leg"`
		Answer manyAnswer `json:"answer"`
	} `json:"replaced"`
}

// manyAnswer is an answer, in the reply or as what was replaced.
type manyAnswer struct {
	Type          string             `json:"type"`
	Noul          *float64           `json:"noul"`
	Choice        string             `json:"choice"`
	Score         float64            `json:"score"`
	Probabilities map[string]float64 `json:"probabilities"`
}

// checkLegs compares the legs with the lines of a case. A case without such lines says
// nothing about them.
func (c *manyCase) checkLegs(t *testing.T, reply *manyReply) {
	t.Helper()
	want := c.all("leg")
	if len(want) == 0 {
		return
	}
	var got []string
	for i := range reply.Metadata.Legs {
		pattern := ""
		if i < len(want) {
			pattern = want[i]
		}
		got = append(got, reply.Metadata.write(t, &reply.Metadata.Legs[i], pattern))
	}
	for i := range want {
		want[i] = fullLeg(want[i])
	}
	assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "legs")
}

// fullLeg adds to a line what it need not say: its outcome.
func fullLeg(line string) string {
	head, outcome, said := strings.Cut(line, " → ")
	switch {
	case !said:
		outcome = "answered"
	case !strings.HasPrefix(outcome, "kept "):
	case strings.HasSuffix(head, ":"): // nothing was attempted
		outcome = "skipped, " + outcome
	default:
		outcome = "failed, " + outcome
	}
	return head + " → " + outcome
}

// write returns a leg as a case writes it.
func (m *manyMetadata) write(t *testing.T, leg *manyLeg, pattern string) string {
	t.Helper()
	asked := strings.Join(leg.Asked, " ")
	if strings.Contains(pattern, " …:") || strings.Contains(pattern, " … ") {
		asked = "…"
	}
	line := leg.Reason + " " + asked
	if len(leg.TriggeredBy) > 0 {
		line += " by " + strings.Join(leg.TriggeredBy, " ")
	}
	var tries []string
	for _, i := range leg.Attempts {
		require.Less(t, i, len(m.Attempts), "the attempts of a leg")
		tries = append(tries, fmt.Sprintf("%s %d", m.Attempts[i].Endpoint, m.Attempts[i].Status))
	}
	line = strings.TrimSpace(line + ": " + strings.Join(tries, ", "))
	if last := len(leg.Attempts) - 1; last >= 0 && leg.Outcome == "answered" {
		by := m.Attempts[leg.Attempts[last]]
		assert.Equal(t, by.Model, leg.Model, "the model of a leg")
		assert.Equal(t, by.Provider, leg.Provider, "the provider of a leg")
	}
	line += " → " + leg.Outcome
	if leg.Kept != "" {
		line += ", kept " + leg.Kept
	}
	return line
}

// checkAnswers compares the answers and who gave them. Every question must be answered,
// also in a case that does not say how.
func (c *manyCase) checkAnswers(t *testing.T, reply *manyReply, asked []manyQuestion) {
	t.Helper()
	var names []string
	for _, q := range asked {
		names = append(names, q.name)
	}
	slices.Sort(names)
	require.Equal(t, strings.Join(names, " "), joinedKeys(reply.Answers), "the answers")
	require.Equal(t, strings.Join(names, " "), joinedKeys(reply.Metadata.Answers), "the answers of the metadata")
	if c.one("answers") == "" {
		return
	}
	want := strings.Split(c.one("answers"), " · ")
	var got []string
	for _, one := range want {
		text, by, _ := strings.Cut(one, " by ")
		_, over, _ := strings.Cut(by, " over ")
		_, over, _ = strings.Cut(over, " ")
		name, value, _ := strings.Cut(text, "=")
		at := slices.IndexFunc(asked, func(q manyQuestion) bool { return q.name == name })
		require.GreaterOrEqual(t, at, 0, "the case asks no %q", name)
		answer, from := reply.Answers[name], reply.Metadata.Answers[name]
		line := fmt.Sprintf("%s=%s by %d %s", name, answer.write(value, asked[at]), from.Leg, from.Endpoint)
		if r := from.Replaced; r != nil {
			line += fmt.Sprintf(" over %d %s", r.Leg, r.Answer.write(over, asked[at]))
		}
		got = append(got, line)
		reply.Metadata.checkAttempt(t, name, &from)
	}
	assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "answers")
}

// checkAttempt requires that the attempt that an answer names is one of its leg, at its
// endpoint.
func (m *manyMetadata) checkAttempt(t *testing.T, name string, from *manyProvenance) {
	t.Helper()
	if !assert.Less(t, from.Attempt, len(m.Attempts), "%s: attempt", name) || !assert.Less(t, from.Leg, len(m.Legs), "%s: leg", name) {
		return
	}
	attempt := m.Attempts[from.Attempt]
	assert.Equal(t, attempt.Endpoint+" "+attempt.Model, from.Endpoint+" "+from.Model, "%s: the endpoint of its attempt", name)
	assert.Contains(t, m.Legs[from.Leg].Attempts, from.Attempt, "%s: the attempts of its leg", name)
}

func joinedKeys[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), " ")
}

// write returns an answer as a case writes it: as wanted where it is the same to 1e-9.
func (a *manyAnswer) write(want string, q manyQuestion) string {
	if a.Type != q.kind {
		return "a " + a.Type
	}
	label, share, _ := strings.Cut(want, ":")
	switch {
	case q.kind == "noul":
		if a.Noul == nil {
			return "nothing"
		}
		return figure(want, *a.Noul)
	case want == "softmax":
		for i, p := range softmax(q.options) {
			if o := q.options[i]; !(math.Abs(a.Probabilities[o]-p) < 1e-9) {
				return fmt.Sprintf("%s:%v, where the softmax is %v", o, a.Probabilities[o], p)
			}
		}
		return want
	case q.kind == "choice" && a.Choice != label || len(a.Probabilities) == 0:
		return a.Choice
	default:
		return label + ":" + figure(share, a.Probabilities[label])
	}
}

// figure returns the figure that was wanted where it is the same to 1e-9, else got.
func figure(want string, got float64) string {
	if p, err := strconv.ParseFloat(want, 64); err == nil && math.Abs(p-got) < 1e-9 {
		return want
	}
	return strconv.FormatFloat(got, 'g', -1, 64)
}
