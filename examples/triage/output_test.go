package main

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// three are questions of each kind, and answers to them.
func three() ([]systemone.Question, systemone.Answers) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	questions := []systemone.Question{
		{Name: "team", Kind: systemone.Choice, Options: []systemone.Option{{Name: "billing"}, {Name: "技術"}}},
		{Name: "angry", Kind: systemone.Noul},
		{Name: "urgency", Kind: systemone.Score, Levels: []json.RawMessage{raw(`"low"`), raw(`"high"`)}},
	}
	return questions, systemone.Answers{
		{
			Name: "team", Kind: systemone.Choice, Choice: "技術", Confidence: 0.5,
			Probabilities: []systemone.Probability{{Label: "billing", P: 0.25}, {Label: "技術", P: 0.75}},
		},
		{Name: "angry", Kind: systemone.Noul, Noul: 0.125},
		{
			Name: "urgency", Kind: systemone.Score, Score: 0.5,
			Probabilities: []systemone.Probability{{Label: "0", P: 0.5}, {Label: "1", P: 0.5}},
		},
	}
}

func TestTheTableIsAlignedAndCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	questions, answers := three()
	var out strings.Builder
	p := &tablePrinter{out: &out, questions: questions, width: 90}
	ok := &router.Result{Response: systemone.Response{Answers: answers}}
	for _, o := range []outcome{
		{id: "T-1", title: "short", result: ok},
		{id: "an id that is far too long to be shown", title: strings.Repeat("long ", 40), result: ok},
		{id: "\x1b[2J\u202eevil", title: "two\nlines \u0007 and 漢字", result: ok},
		{id: "4", source: "f:4", err: errors.New("two\nlines \x1b]0;x\x07")},
	} {
		require.NoError(t, p.write(o))
	}
	want := `ID                        team          angry  urgency  ITEM
T-1                       0.75 技術     0.12   0.5/1    short
an id that is far too l…  0.75 技術     0.12   0.5/1    long long long long long long lo…
?[2J?evil                 0.75 技術     0.12   0.5/1    two lines ? and 漢字
4                         error: f:4: two lines ?]0;x?
`
	assert.Equal(t, want, out.String())
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, cells(strings.TrimSuffix(line, "\n")), 90)
	}
}

func TestPadFillsExactly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":        "    ",
		"abcd":    "abcd",
		"abcde":   "abc…",
		"漢字":      "漢字",
		"漢字漢":     "漢… ",
		"e\u0301": "e\u0301   ",
	} {
		assert.Equal(t, want, pad(text, 4), "%q", text)
	}
}

func TestLinesHaveTheTwoForms(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := linePrinter{out: &out}
	_, answers := three()
	require.NoError(t, p.write(outcome{id: "a<b", source: "f:1", result: &router.Result{
		Cost:     1_500_000,
		Response: systemone.Response{Answers: answers[1:2], Provider: "Here", Model: "m/n"},
	}}))
	require.NoError(t, p.write(outcome{id: "2", source: "f:2", err: errors.New("broken\nin two lines")}))
	assert.Equal(t, []string{
		`{"id":"a<b","source":"f:1","answers":{"angry":{"type":"noul","noul":0.125}},"provider":"Here","model":"m/n","cost":0.0015}`,
		`{"id":"2","source":"f:2","error":"broken in two lines"}`, "",
	}, strings.Split(out.String(), "\n"))
}

func TestCostsDoNotWrap(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := report{to: &out, now: time.Now}
	for range 2 {
		r.count(outcome{result: &router.Result{Cost: math.MaxInt64 - 1}})
	}
	r.summary(false)
	assert.Contains(t, out.String(), "cost $9223372036.854775807,")
}

func TestTheReportCountsAndShowsProgressOnATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Unix(1000, 0)
	r := report{to: &out, live: true, now: func() time.Time { return now }, start: now}
	done := outcome{result: &router.Result{Cost: 2, Response: systemone.Response{
		Usage: systemone.Usage{InputTokens: 10, OutputTokens: 1},
	}}}
	now = now.Add(time.Second)
	r.count(done)
	r.progress()
	now = now.Add(progressEvery / 2)
	r.count(outcome{err: errEmpty})
	r.progress() // too soon
	r.clear()
	now = now.Add(progressEvery/2 + 900*time.Millisecond)
	r.count(done)
	r.summary(true)
	assert.Equal(t, "\r\x1b[K1 item, 0 failed, 1.0 items/s\r\x1b[K\r\x1b[K"+
		"triage: interrupted: 3 items, 1 failed, 22 tokens (20 in, 2 out), cost $0.000000004, 1.5 items/s\n", out.String())

	out.Reset()
	quiet := report{to: &out, now: r.now}
	quiet.count(done)
	quiet.progress()
	quiet.clear()
	assert.Empty(t, out.String(), "there is no progress on what is no terminal")
	quiet.summary(false)
	assert.Contains(t, out.String(), "triage: 1 item, 0 failed")
}
