package signalbox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// manyUpstream answers for one provider as a case says. An attempt takes the first step
// that asks what it asks. It is safe for concurrent use.
type manyUpstream struct {
	hangUp func() // ends the caller's request

	mu            sync.Mutex
	steps         []manyStep
	running, most int
	wrong         []string // what no step foresaw
}

// manyStep is one attempt at a provider.
type manyStep struct {
	asked    []manyToken
	end      string // how it ends without answers; "" is with them
	takes    time.Duration
	in, out  int64
	optional bool
}

// manyToken is a question that a step must be asked, with its answer.
type manyToken struct {
	name   string   // "?" is a part of a choice
	shown  []string // the options of a part; nil is any
	answer string
}

var ending = regexp.MustCompile(`^([45]\d\d(\(\d+\))?|bad|down|hangs|hangup)$`)

// parseManySteps reads the line of a provider.
func parseManySteps(t *testing.T, text string) []manyStep {
	t.Helper()
	var list []manyStep
	for one := range strings.SplitSeq(text, " then ") {
		one, optional := strings.CutPrefix(one, "≤")
		times, words := repeated(t, one)
		step := manyStep{in: 10, out: 1, optional: optional}
		for word := range strings.FieldsSeq(words) {
			name, value, _ := strings.Cut(word, "=")
			var err error
			switch {
			case ending.MatchString(word):
				step.end = word
			case name == "takes":
				step.takes, err = time.ParseDuration(value)
			case name == "usage":
				_, err = fmt.Sscanf(value, "%d/%d", &step.in, &step.out)
			case word == "?":
				step.asked = append(step.asked, manyToken{name: "?"})
			case word[0] == '?':
				step.asked = append(step.asked, manyToken{name: "?", shown: between(t, word[1:])})
			default:
				for _, one := range between(t, name) {
					step.asked = append(step.asked, manyToken{name: one, answer: value})
				}
			}
			require.NoError(t, err, word)
		}
		list = append(list, slices.Repeat([]manyStep{step}, times)...)
	}
	return list
}

// fits reports whether a step asks these questions.
func (s *manyStep) fits(questions []systemone.Question) bool {
	if len(s.asked) == 1 && s.asked[0].name == "…" {
		return !slices.ContainsFunc(questions, func(q systemone.Question) bool { return q.Kind != systemone.Choice })
	}
	return slices.EqualFunc(s.asked, questions, func(want manyToken, q systemone.Question) bool {
		if want.name != "?" {
			return want.name == q.Name
		}
		return q.Kind == systemone.Choice && (want.shown == nil || slices.Equal(want.shown, optionNames(q)))
	})
}

func optionNames(q systemone.Question) []string {
	var list []string
	for _, o := range q.Options {
		list = append(list, o.Name)
	}
	return list
}

// take returns the step for an attempt and removes it.
func (u *manyUpstream) take(questions []systemone.Question) (manyStep, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running++
	u.most = max(u.most, u.running)
	for i := range u.steps {
		if u.steps[i].fits(questions) {
			step := u.steps[i]
			u.steps = slices.Delete(u.steps, i, i+1)
			return step, true
		}
	}
	var asked []string
	for _, q := range questions {
		asked = append(asked, fmt.Sprintf("%s%v", q.Name, optionNames(q)))
	}
	u.wrong = append(u.wrong, strings.Join(asked, " "))
	return manyStep{}, false
}

// Decide takes the step that asks the attempt's questions.
func (u *manyUpstream) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	step, ok := u.take(a.Request.Questions)
	defer func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.running--
	}()
	if !ok {
		return router.Reply{}, &router.UpstreamError{Err: errors.New("no step asks this")}
	}
	if step.takes > 0 {
		select {
		case <-time.After(step.takes):
		case <-ctx.Done():
			return router.Reply{}, ended(ctx)
		}
	}
	switch step.end {
	case "":
		return step.reply(a)
	case "bad":
		return router.Reply{Model: a.Model}, nil
	case "down":
		return router.Reply{}, &router.UpstreamError{Class: router.ProviderUnavailable}
	case "hangs", "hangup":
		if step.end == "hangup" {
			u.hangUp()
		}
		<-ctx.Done()
		return router.Reply{}, ended(ctx)
	}
	var status, after int
	if _, err := fmt.Sscanf(step.end, "%d(%d)", &status, &after); status == 0 {
		return router.Reply{}, err
	}
	return router.Reply{}, routertest.Fail(status, time.Duration(after)*time.Second)
}

// ended returns the error of an attempt whose context is over.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &router.UpstreamError{Class: router.Timeout, Err: ctx.Err()}
	}
	return &router.UpstreamError{Class: router.ProviderUnavailable, Err: ctx.Err()}
}

// reply answers what the step says.
func (s *manyStep) reply(a router.Attempt) (router.Reply, error) {
	r := router.Reply{Model: a.Model, Usage: systemone.Usage{InputTokens: s.in, OutputTokens: s.out}}
	for i, q := range a.Request.Questions {
		want := s.asked[min(i, len(s.asked)-1)]
		switch want.answer {
		case "refused", "unsafe":
			r.Refused = append(r.Refused, router.Refusal{Question: q.Name, Safety: want.answer == "unsafe"})
		case "missing":
		default:
			answer, err := answerTo(q, want.answer)
			if err != nil {
				return r, err
			}
			r.Answers = append(r.Answers, answer)
		}
	}
	return r, nil
}

// answerTo answers a question: "" by the softmax of its options' logits, else as a step
// says.
func answerTo(q systemone.Question, text string) (systemone.Answer, error) {
	if q.Kind == systemone.Noul {
		p, err := strconv.ParseFloat(text, 64)
		return systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: p}, err
	}
	labels := optionNames(q)
	if q.Kind == systemone.Score {
		labels = numbered("", 0, len(q.Levels)-1)
	}
	label, share, distributed := strings.Cut(text, ":")
	a := systemone.Answer{Name: q.Name, Kind: q.Kind, Choice: label}
	var p []float64
	switch at := slices.Index(labels, label); {
	case text == "":
		p = softmax(labels)
		a.Choice = labels[len(labels)-1]
	case at < 0:
		return a, fmt.Errorf("%s has no %q", q.Name, label)
	case !distributed:
		a.Score = float64(at)
	default:
		part, err := strconv.ParseFloat(share, 64)
		if err != nil {
			return a, err
		}
		p = slices.Repeat([]float64{(1 - part) / float64(len(labels)-1)}, len(labels))
		p[at] = part
	}
	for i := range p {
		a.Probabilities = append(a.Probabilities, systemone.Probability{Label: labels[i], P: p[i]})
		a.Score += float64(i) * p[i]
	}
	if q.Kind == systemone.Choice {
		a.Score = 0
	} else {
		a.Choice = ""
	}
	return a, nil
}

// softmax returns the distribution of options, of which oN has the logit N/10.
func softmax(options []string) []float64 {
	p, sum := make([]float64, len(options)), 0.0
	for i, o := range options {
		n, _ := strconv.ParseFloat(strings.TrimPrefix(o, "o"), 64)
		p[i] = math.Exp(n / 10)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
