package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

// What the program returns to the shell.
const (
	exitDone        = 0
	exitFailed      = 1   // an item failed, or the output could not be written
	exitUsage       = 2   // the command line or the file of questions is wrong
	exitInterrupted = 130 // as shells report a program that was interrupted
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program: it reads what args name, asks the embedded model and writes answers to stdout.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "triage:", oneLine(err.Error()))
		return exitUsage
	}
	decide, err := embedded(o.concurrency)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "triage:", oneLine(err.Error()))
		return exitFailed
	}
	columns, wide := terminal(stdout)
	_, live := terminal(stderr)
	t := triage{
		options: o,
		decide:  decide,
		out:     linePrinter{out: stdout},
		report:  report{to: stderr, live: live, now: time.Now},
	}
	if wide {
		t.out = &tablePrinter{out: stdout, questions: o.questions, width: columns}
	}
	return t.run(ctx, stdin)
}

// triage is one run of the program.
type triage struct {
	options

	decide router.Decider
	out    printer
	report report
}

// run works through all items and says how the program ends.
func (t *triage) run(ctx context.Context, stdin io.Reader) int {
	t.report.start = t.report.now()
	for o := range inOrder(ctx, t.concurrency, t.items(ctx, stdin), t.ask) {
		if o.cut {
			continue
		}
		t.report.clear()
		for _, note := range o.notes {
			t.report.line("%s: %s", printable(o.source), printable(note))
		}
		if err := t.out.write(o); err != nil {
			t.report.line("cannot write: %s", oneLine(err.Error()))
			return exitFailed
		}
		t.report.count(o)
		t.report.progress()
	}
	t.report.summary(ctx.Err() != nil)
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case t.report.failures > 0:
		return exitFailed
	}
	return exitDone
}

// ask understands an item and has its questions answered.
func (t *triage) ask(ctx context.Context, i item) outcome {
	o := outcome{source: i.source, id: i.id, err: i.err}
	if o.err == nil {
		var doc document
		doc, o.err = i.parse(i.raw)
		if doc.id != "" {
			o.id = doc.id
		}
		o.title, o.notes = doc.title, doc.notes
		if o.err == nil {
			o.result, o.err = t.decide(ctx, &router.Call{Request: &systemone.Request{
				Model: similarity.Model, State: doc.state, Questions: t.questions,
			}})
		}
	}
	o.cut = o.err != nil && ctx.Err() != nil
	return o
}
