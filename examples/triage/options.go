package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// maxConcurrency bounds -concurrency, and with it the memory that items take.
const maxConcurrency = 256

// options are what the command line says.
type options struct {
	files       []string
	format      format
	state, id   string // members of a line of JSON Lines; empty: the whole line, its number
	envelope    bool   // the state of a mail has also its sender and date
	questions   []systemone.Question
	concurrency int
}

// parseOptions reads the command line. A mistake is one line; flag.ErrHelp is none.
func parseOptions(args []string, help io.Writer) (options, error) {
	o := options{format: formatAuto}
	var questions string
	f := flag.NewFlagSet("triage", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Var(&o.format, "format", "how to read the files: `auto`, text, mail, mbox or jsonl")
	f.StringVar(&o.state, "state", "", "JSON Lines: the `member` that is the state (default the whole value)")
	f.StringVar(&o.id, "id", "", "JSON Lines: the `member` that names the item (default the line number)")
	f.BoolVar(&o.envelope, "envelope", false, "mail: the state has also from and date (the embedded model answers worse with them)")
	f.StringVar(&questions, "questions", "", "JSON `file` with the questions by name (default: built in, for support tickets)")
	f.IntVar(&o.concurrency, "concurrency", runtime.GOMAXPROCS(0), "how many `items` are asked about at once")
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(help)
		_, _ = fmt.Fprint(help, "usage: triage [flags] FILE...\n\nAsks questions about texts, mails and JSON Lines; - is standard input.\n\n")
		f.PrintDefaults()
		return options{}, err
	}
	if err != nil {
		return options{}, err
	}
	o.files = f.Args()
	if err := o.check(); err != nil {
		return options{}, err
	}
	o.questions, err = loadQuestions(questions)
	return o, err
}

// check says what does not go together.
func (o options) check() error {
	if len(o.files) == 0 {
		return errors.New("name a file, or - for standard input (-h lists the flags)")
	}
	for _, name := range o.files {
		if name != stdinName && strings.HasPrefix(name, "-") {
			return fmt.Errorf("flags go before the files: %s (a file of that name is ./%s)", name, name)
		}
	}
	if i := slices.Index(o.files, stdinName); i >= 0 && slices.Contains(o.files[i+1:], stdinName) {
		return errors.New("standard input can be read only once")
	}
	if o.concurrency < 1 || o.concurrency > maxConcurrency {
		return fmt.Errorf("-concurrency must be 1 to %d", maxConcurrency)
	}
	return nil
}

// loadQuestions reads the questions of a file, or the built-in ones without a file.
func loadQuestions(name string) ([]systemone.Question, error) {
	if name == "" {
		return parseQuestions(defaultQuestions)
	}
	raw, err := os.ReadFile(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, fmt.Errorf("-questions: %w", err)
	}
	questions, err := parseQuestions(raw)
	if err != nil {
		return nil, fmt.Errorf("-questions %s: %w", name, err)
	}
	return questions, nil
}
