package main

import (
	"bytes"
	_ "embed" // the default questions
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// defaultQuestions are about support tickets. They are asked unless -questions names others.
//
//go:embed questions.json
var defaultQuestions []byte

// options are what the command line says.
type options struct {
	files     []string
	format    string
	state, id string // members of a line of JSON Lines; empty: the whole line, its number
	questions []systemone.Question
}

// parseOptions reads the command line. It returns flag.ErrHelp after it has written the help.
func parseOptions(args []string, help io.Writer) (options, error) {
	o := options{format: "auto"}
	questions := ""
	f := flag.NewFlagSet("triage", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Func("format", "how to read the files: `auto`, text, mail, mbox or jsonl", func(name string) error {
		if o.format = name; !slices.Contains(strings.Fields("auto text mail mbox jsonl"), name) {
			return errors.New("want auto, text, mail, mbox or jsonl")
		}
		return nil
	})
	f.StringVar(&o.state, "state", "", "JSON Lines: the `member` that is the state (default the whole value)")
	f.StringVar(&o.id, "id", "", "JSON Lines: the `member` that names the item (default the line number)")
	f.StringVar(&questions, "questions", "", "JSON `file` with the questions by name (default: built in, for support tickets)")
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(help)
		_, _ = fmt.Fprint(help, "usage: triage [flags] FILE...\n\nAsks questions about texts, mails and JSON Lines; - is standard input.\n\n")
		f.PrintDefaults()
	}
	if err != nil {
		return options{}, err
	}
	o.files = f.Args()
	if len(o.files) == 0 {
		return options{}, errors.New("name a file, or - for standard input (-h lists the flags)")
	}
	raw := defaultQuestions
	if questions != "" {
		if raw, err = os.ReadFile(questions); err != nil {
			return options{}, fmt.Errorf("-questions: %w", err)
		}
	}
	if o.questions, err = parseQuestions(raw); err != nil {
		return options{}, fmt.Errorf("-questions %s: %w", questions, err)
	}
	return o, nil
}

// parseQuestions reads questions by name, in their order, by the rules for a request.
func parseQuestions(raw []byte) ([]systemone.Question, error) {
	err := json.Unmarshal(raw, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		read := raw[:min(int(syntax.Offset), len(raw))]
		return nil, fmt.Errorf("line %d: not JSON: %w", 1+bytes.Count(read, []byte("\n")), err)
	}
	body := append([]byte(`{"model":"any/model","state":"any","questions":`), raw...)
	request, err := systemone.Decoder{}.Decode(append(body, '}'))
	if err != nil {
		return nil, err
	}
	return request.Questions, nil
}
