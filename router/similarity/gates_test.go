//go:build !race

package similarity

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// The gates hold the quality that the package documentation promises. The race build
// leaves them out, because they take seventeen times as long there. They judge every
// fourth item, always the same ones, or all items if SIGNALBOX_TEST_FULL is 1. With the
// portable kernel they always judge every fourth, so that they end well within go test's
// ten minutes.

// sampled reports whether the gates judge only every fourth item.
func sampled() bool { return portable() || os.Getenv("SIGNALBOX_TEST_FULL") != "1" }

// judged returns the items that the gates judge.
func judged[T any](all []T) []T {
	if !sampled() {
		return all
	}
	var some []T
	for i := 0; i < len(all); i += 4 {
		some = append(some, all[i])
	}
	return some
}

func open(tb testing.TB, name string, each func(d *json.Decoder) error) {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(tb, err)
	defer func() { require.NoError(tb, f.Close()) }()
	r, err := gzip.NewReader(f)
	require.NoError(tb, err)
	d := json.NewDecoder(r)
	for {
		err := each(d)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(tb, err)
	}
}

// sample is a text with the index of its right answer.
type sample struct {
	text     string
	question systemone.Question
	right    int
}

// outcome is the distribution for one sample.
type outcome struct {
	p     []float64
	right int
}

// decideAll decides every sample, on all processors.
func decideAll(tb testing.TB, samples []sample) []outcome {
	tb.Helper()
	p, err := New(Config{})
	require.NoError(tb, err)
	outcomes := make([]outcome, len(samples))
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		wait.Go(func() {
			for i := worker; i < len(samples); i += workers {
				s := samples[i]
				state, err := json.Marshal(s.text)
				if err != nil {
					tb.Error(err)
					return
				}
				reply, err := p.Decide(tb.Context(), router.Attempt{Request: &systemone.Request{
					State: state, Questions: []systemone.Question{s.question},
				}})
				if err != nil {
					tb.Error(err)
					return
				}
				outcomes[i] = outcome{p: distribution(reply.Answers[0]), right: s.right}
			}
		})
	}
	wait.Wait()
	return outcomes
}

// distribution returns the probabilities of an answer; those of a noul are no, then yes.
func distribution(a systemone.Answer) []float64 {
	if a.Kind == systemone.Noul {
		return []float64{1 - a.Noul, a.Noul}
	}
	p := make([]float64, len(a.Probabilities))
	for i := range p {
		p[i] = a.Probabilities[i].P
	}
	return p
}

// accuracy returns the share of right answers; a tie counts as wrong.
func accuracy(outcomes []outcome) float64 {
	hits := 0.0
	for _, o := range outcomes {
		best := systemone.Argmax(o.p, -1)
		if best == o.right {
			hits++
		}
	}
	return hits / float64(len(outcomes))
}

// calibrationError returns the expected calibration error: the mean distance between the
// top probability and the share of right answers, over 15 bins.
func calibrationError(outcomes []outcome) float64 {
	const bins = 15
	var distance [bins]float64
	for _, o := range outcomes {
		best := systemone.Argmax(o.p, -1)
		bin := min(int(o.p[best]*bins), bins-1)
		distance[bin] += o.p[best]
		if best == o.right {
			distance[bin]--
		}
	}
	sum := 0.0
	for _, d := range distance {
		sum += math.Abs(d)
	}
	return sum / float64(len(outcomes))
}

func guidance(tb testing.TB, phrases ...string) json.RawMessage {
	tb.Helper()
	raw, err := json.Marshal(phrases)
	require.NoError(tb, err)
	return raw
}

// labelled reads a file of texts with the label true or false.
func labelled(tb testing.TB, name string, question systemone.Question) []sample {
	tb.Helper()
	var samples []sample
	open(tb, name, func(d *json.Decoder) error {
		var line struct {
			Text  string `json:"text"`
			Label bool   `json:"label"`
		}
		if err := d.Decode(&line); err != nil {
			return err
		}
		s := sample{text: line.Text, question: question}
		if line.Label {
			s.right = 1
		}
		samples = append(samples, s)
		return nil
	})
	return judged(samples)
}

// intents reads the CLINC set: utterances with five intents each, one of them right.
type intents struct {
	Options []string `json:"options"`
	Items   []struct {
		State string `json:"state"`
		Label int    `json:"label"`
		Cands []int  `json:"cands"`
	} `json:"items"`
}

func clinc(tb testing.TB) (set intents) {
	tb.Helper()
	open(tb, "clinc150.json.gz", func(d *json.Decoder) error { return d.Decode(&set) })
	set.Items = judged(set.Items)
	return set
}

func TestGateIntents(t *testing.T) {
	set := clinc(t)
	samples := make([]sample, len(set.Items))
	for i, item := range set.Items {
		s := sample{text: item.State, question: systemone.Question{Name: "intent", Kind: systemone.Choice}}
		for j, c := range item.Cands {
			s.question.Options = append(s.question.Options, systemone.Option{Name: set.Options[c]})
			if c == item.Label {
				s.right = j
			}
		}
		samples[i] = s
	}
	outcomes := decideAll(t, samples)
	report(t, outcomes, .88, .05)
	reportUnsure(t, systemone.Choice, outcomes, .20, .97)
}

// TestGateTopics fits the curve for a noul without criteria again and compares it with
// the fitted weights. The topics are names of intents: the right one for every other
// utterance, a wrong one for the rest.
func TestGateTopics(t *testing.T) {
	set := clinc(t)
	samples := make([]sample, len(set.Items))
	for i, item := range set.Items {
		about, right := item.Label, 1
		if i%2 == 1 {
			about, right = item.Cands[slices.IndexFunc(item.Cands, func(c int) bool { return c != item.Label })], 0
		}
		instructions, err := json.Marshal("Is it about " + set.Options[about] + "?")
		require.NoError(t, err)
		samples[i] = sample{text: item.State, right: right, question: systemone.Question{
			Name: "topic", Kind: systemone.Noul, Instructions: instructions,
		}}
	}
	outcomes := decideAll(t, samples)
	report(t, outcomes, .88, .05)
	reportUnsure(t, systemone.Noul, outcomes, .25, .95)

	// The evidence of each sample, computed back from its probability.
	w := fitted()
	z := make([]float64, len(outcomes))
	for i, o := range outcomes {
		z[i] = (math.Log(o.p[1]/o.p[0])*w.Temperature - w.TopicOffset) / w.TopicSlope
	}
	slope, offset := logistic(z, outcomes)
	t.Logf("slope %.3f, offset %.3f", slope, offset)
	loose := 1.0
	if sampled() {
		loose = 15 // a curve fitted to a quarter of the samples deviates
	}
	require.InDelta(t, w.TopicSlope, slope, .005*loose)
	require.InDelta(t, w.TopicOffset, offset, .02*loose)
}

// logistic fits P(right = 1) = 1 / (1 + exp(-slope z - offset)) by Newton's
// method.
func logistic(z []float64, outcomes []outcome) (slope, offset float64) {
	for range 30 {
		var g0, g1, h00, h01, h11 float64
		for i, o := range outcomes {
			p := 1 / (1 + math.Exp(-slope*z[i]-offset))
			miss, spread := float64(o.right)-p, p*(1-p)
			g0, g1 = g0+miss, g1+miss*z[i]
			h00, h01, h11 = h00+spread, h01+spread*z[i], h11+spread*z[i]*z[i]
		}
		det := h00*h11 - h01*h01
		slope += (h00*g1 - h01*g0) / det
		offset += (h11*g0 - h01*g1) / det
	}
	return slope, offset
}

func report(t *testing.T, outcomes []outcome, atLeast, atMost float64) {
	t.Helper()
	right, off := accuracy(outcomes), calibrationError(outcomes)
	t.Logf("%d decisions, accuracy %.3f, calibration error %.3f", len(outcomes), right, off)
	require.GreaterOrEqual(t, right, atLeast, "accuracy")
	require.LessOrEqual(t, off, atMost, "calibration error")
}

// reportUnsure checks what [Unsure] leaves to another model: at most a share of all
// decisions, while of the rest at least a share is right.
func reportUnsure(t *testing.T, kind systemone.Kind, outcomes []outcome, atMost, atLeast float64) {
	t.Helper()
	question := []systemone.Question{{Name: "q", Kind: kind}}
	var kept []outcome
	for _, o := range outcomes {
		a := systemone.Answer{Name: "q", Kind: kind, Noul: o.p[1], Confidence: systemone.ChoiceConfidence(o.p)}
		for _, p := range o.p {
			a.Probabilities = append(a.Probabilities, systemone.Probability{P: p})
		}
		if Unsure().Match(question, systemone.Answers{a}) == nil {
			kept = append(kept, o)
		}
	}
	left, right := 1-float64(len(kept))/float64(len(outcomes)), accuracy(kept)
	t.Logf("unsure of %.3f, of the rest %.3f are right", left, right)
	require.LessOrEqual(t, left, atMost, "unsure")
	require.GreaterOrEqual(t, right, atLeast, "accuracy of the rest")
}

func TestGateReviews(t *testing.T) {
	outcomes := decideAll(t, labelled(t, "uci.jsonl.gz", systemone.Question{
		Name: "positive", Kind: systemone.Noul,
		True: guidance(t, "This is a positive review.", "It is great, excellent, I love it.",
			"Works perfectly, highly recommended, I am very happy with it.",
			"The best I have ever had, wonderful and delicious."),
		False: guidance(t, "This is a negative review.", "It is terrible, awful, I hate it.",
			"Does not work, a waste of money, I am very disappointed.",
			"The worst I have ever had, boring and disgusting."),
	}))
	report(t, outcomes, .75, .06)
	reportUnsure(t, systemone.Noul, outcomes, .55, .88)
}

func TestGateSpam(t *testing.T) {
	report(t, decideAll(t, labelled(t, "spam.jsonl.gz", systemone.Question{
		Name: "spam", Kind: systemone.Noul,
		True: guidance(t, "This is spam, an unsolicited advertisement.", "Buy now, limited time offer, click here to order.",
			"Make money fast, work from home, guaranteed income.",
			"Lose weight, cheap drugs, low mortgage rates, free trial.",
			"To be removed from this mailing list, reply with remove."),
		False: guidance(t, "This is a personal message or a discussion on a mailing list.",
			"I think you should try this, as I wrote in my last mail.",
			"There is a bug in the new version of the software, here is a patch.",
			"Did you see the news about this?", "On Monday he wrote:"),
	})), .78, .10)
}
