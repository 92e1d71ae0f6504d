package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

// What the program returns to the shell.
const (
	exitDone        = 0
	exitFailed      = 1   // an item failed, or the output could not be written
	exitUsage       = 2   // the command line or the file of questions is wrong
	exitInterrupted = 130 // as shells report an interrupted program
)

// Limits of one item. The embedded model's own defaults are for a server with many callers.
const (
	maxTime    = time.Minute
	maxTokens  = 8192 // ordinary text of maxText bytes has fewer
	maxPhrases = 2048
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program: it reads the files that args name, asks the embedded model and writes the answers to stdout.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	t := triage{options: o, concurrency: runtime.GOMAXPROCS(0), out: stdout, log: stderr, now: time.Now}
	if err != nil {
		t.say("%s", oneLine(err))
		return exitUsage
	}
	if t.decide, err = embedded(t.concurrency); err != nil {
		t.say("%s", oneLine(err))
		return exitFailed
	}
	return t.run(ctx, stdin)
}

// embedded is the whole use of the library: a model in this process, a catalog with the model, and a router that
// checks and prices its answers. The model takes at most n requests at once.
func embedded(n int) (router.Decider, error) {
	limits := similarity.Limits{StateTokens: maxTokens, Phrases: maxPhrases}
	model, err := similarity.New(similarity.Config{Workers: n, Queue: n, Limits: limits})
	if err != nil {
		return nil, err
	}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: similarity.Model, Permaslug: similarity.Permaslug}},
		[]router.ProviderInfo{{Slug: "embedded", Client: model}},
		[]router.Endpoint{model.Endpoint("embedded")},
	)
	if err != nil {
		return nil, err
	}
	r, err := router.New(router.Config{Catalog: catalog, Timeout: maxTime, AttemptTimeout: maxTime})
	if err != nil {
		return nil, err
	}
	return r.Decide, nil
}

// triage is one run of the program.
type triage struct {
	options

	decide      router.Decider
	concurrency int // items at work
	out, log    io.Writer
	now         func() time.Time

	items, failures int
	input, output   int64 // tokens
	cost            router.USD
}

// run asks about all items and returns the program's exit code.
func (t *triage) run(ctx context.Context, stdin io.Reader) int {
	start := t.now()
	reading, stop := context.WithCancel(ctx)
	defer stop()
	for o := range inOrder(reading, t.concurrency, t.find(reading, stdin), t.ask) {
		if o.err != nil && ctx.Err() != nil {
			continue // it was interrupted
		}
		if err := t.finish(o); err != nil {
			stop()
			t.say("cannot write: %s", oneLine(err))
			return exitFailed
		}
	}
	first, code := "", min(t.failures, exitFailed)
	if ctx.Err() != nil {
		first, code = "interrupted: ", exitInterrupted
	}
	rate := float64(t.items) / max(t.now().Sub(start).Seconds(), 1e-9)
	t.say("%s%d items, %d failed, %d tokens (%d in, %d out), cost $%s, %.1f items/s",
		first, t.items, t.failures, t.input+t.output, t.input, t.output, t.cost, rate)
	return code
}

// ask parses an item and has its questions answered.
func (t *triage) ask(ctx context.Context, i item) outcome {
	o := outcome{source: i.source, id: i.id, err: i.err}
	if o.err == nil {
		o.document, o.err = i.parse(i.raw)
	}
	if o.name != "" {
		o.id = o.name
	}
	if o.err == nil {
		o.result, o.err = t.decide(ctx, &router.Call{Request: &systemone.Request{
			Model: similarity.Model, State: o.state, Questions: t.questions,
		}})
	}
	return o
}

// finish writes and counts an outcome.
func (t *triage) finish(o outcome) error {
	for _, note := range o.notes {
		t.say("%s: %s", o.source, note)
	}
	text, err := o.line()
	if err == nil {
		_, err = t.out.Write(text)
	}
	if t.items++; o.err != nil {
		t.failures++
		return err
	}
	t.input += o.result.Response.Usage.InputTokens
	t.output += o.result.Response.Usage.OutputTokens
	t.cost += min(o.result.Cost, math.MaxInt64-t.cost) // costs are never negative; the sum stops at the largest amount
	return err
}

func (t *triage) say(format string, args ...any) {
	_, _ = fmt.Fprintf(t.log, "triage: %s\n", printable(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")))
}

// outcome is the result of one item.
type outcome struct {
	document

	source, id string
	result     *router.Result // nil when err is not
	err        error
}

// inOrder works on up to n items at once and yields the outcomes in the order of the items. At most n+1 items are in
// memory. When it returns, all its goroutines have ended.
func inOrder(ctx context.Context, n int, items iter.Seq[item], work func(context.Context, item) outcome) iter.Seq[outcome] {
	return func(yield func(outcome) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		order := make(chan chan outcome, n-1) // the reader below holds one more
		all.Go(func() {
			defer close(order)
			for i := range items {
				done := make(chan outcome, 1)
				select {
				case order <- done:
				case <-ctx.Done():
					return
				}
				all.Go(func() { done <- work(ctx, i) })
			}
		})
		for done := range order {
			if !yield(<-done) {
				return
			}
		}
	}
}

// line is an outcome in JSON Lines: the answers or an error.
type line struct {
	ID       string            `json:"id"`
	Source   string            `json:"source"`
	Answers  systemone.Answers `json:"answers,omitempty"`
	Provider string            `json:"provider,omitempty"`
	Model    string            `json:"model,omitempty"`
	Cost     json.Number       `json:"cost,omitempty"` // in dollars
	Error    string            `json:"error,omitempty"`
}

// line returns what is written of an outcome.
func (o outcome) line() ([]byte, error) {
	l := line{ID: o.id, Source: o.source}
	if o.err != nil {
		l.Error = oneLine(o.err)
	} else {
		r := o.result.Response
		l.Answers, l.Provider, l.Model, l.Cost = r.Answers, r.Provider, r.Model, json.Number(o.result.Cost.String())
	}
	text, err := json.Marshal(l)
	return append(text, '\n'), err
}

// printable is text that cannot steer a terminal: one line, without control and formatting characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, text)
}

// oneLine is the text of an error in one line of at most 300 characters: errors may quote the input.
func oneLine(err error) string {
	text := err.Error()
	if refusal, ok := errors.AsType[*router.Error](err); ok && len(refusal.ExcludedBy) > 0 {
		text += " (excluded by " + strings.Join(refusal.ExcludedBy, ", ") + ")"
	}
	return fmt.Sprintf("%.300s", strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " "))
}
