package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// agree is a decider that says yes to everything for a nano-dollar, but fails at states with "fail" in them.
func agree(_ context.Context, c *router.Call) (*router.Result, error) {
	if bytes.Contains(c.Request.State, []byte("fail")) {
		return nil, errors.New("refused")
	}
	answers := make(systemone.Answers, 0, len(c.Request.Questions))
	for _, q := range c.Request.Questions {
		answers = append(answers, systemone.Answer{Name: q.Name, Kind: systemone.Noul, Noul: 1})
	}
	return &router.Result{Cost: 1, Response: systemone.Response{
		Answers: answers, Provider: "Test", Model: c.Request.Model, Usage: systemone.Usage{InputTokens: 3, OutputTokens: 1},
	}}, nil
}

// started is a run of the program with another decider, and what it wrote.
func started(t *testing.T, decide router.Decider, args ...string) (program *triage, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	o, err := parseOptions(args, io.Discard)
	require.NoError(t, err)
	o.questions = []systemone.Question{{Name: "ok", Kind: systemone.Noul}}
	now := time.Unix(0, 0)
	return &triage{
		options: o, decide: decide, concurrency: 1, out: stdout, log: stderr,
		now: func() time.Time { now = now.Add(time.Second); return now },
	}, stdout, stderr
}

func TestBrokenItemsAreReportedAndDoNotStopTheRest(t *testing.T) {
	t.Parallel()
	program, stdout, stderr := started(t, agree, "-format", "jsonl", "testdata/box/missing.jsonl", "-")
	code := program.run(t.Context(), strings.NewReader("{\"a\":1}\n{broken\n{\"a\":\"fail\"}\n{\"a\":2}\n"))
	assert.Equal(t, exitFailed, code)
	assert.Equal(t, []string{
		`{"id":"missing.jsonl","source":"testdata/box/missing.jsonl","error":"open testdata/box/missing.jsonl: no such file or directory"}`,
		`{"id":"1","source":"stdin:1","answers":{"ok":{"type":"noul","noul":1}},"provider":"Test","model":"signalbox/similarity-en-1","cost":0.000000001}`,
		`{"id":"2","source":"stdin:2","error":"not JSON: invalid character 'b' looking for beginning of object key string"}`,
		`{"id":"3","source":"stdin:3","error":"refused"}`,
		`{"id":"4","source":"stdin:4","answers":{"ok":{"type":"noul","noul":1}},"provider":"Test","model":"signalbox/similarity-en-1","cost":0.000000001}`, "",
	}, strings.Split(stdout.String(), "\n"))
	assert.Equal(t, "triage: 5 items, 3 failed, 8 tokens (6 in, 2 out), cost $0.000000002, 5.0 items/s\n", stderr.String())
}

func TestNotesGoToStandardErrorWithTheirPlace(t *testing.T) {
	t.Parallel()
	program, stdout, stderr := started(t, agree, "testdata/mail/base64-broken.eml", "testdata/box/empty.mbox")
	assert.Equal(t, exitDone, program.run(t.Context(), nil))
	assert.Equal(t, 1, strings.Count(stdout.String(), "\n"))
	assert.Equal(t, "triage: testdata/mail/base64-broken.eml: a part breaks off: illegal base64 data at input byte 40\n"+
		"triage: 1 items, 0 failed, 4 tokens (3 in, 1 out), cost $0.000000001, 1.0 items/s\n", stderr.String())
}

func TestAnInterruptPrintsWhatWasDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int64
	program, stdout, stderr := started(t, func(ctx context.Context, c *router.Call) (*router.Result, error) {
		if asked.Add(1) > 3 {
			cancel()
			return nil, ctx.Err()
		}
		return agree(ctx, c)
	}, "-format", "jsonl", "-")
	endless, feed := io.Pipe() // standard input that never ends, and nobody writes after the interrupt
	go func() {
		_, err := io.WriteString(feed, strings.Repeat("\"x\"\n", 10))
		assert.NoError(t, err)
	}()
	assert.Equal(t, exitInterrupted, program.run(ctx, endless))
	require.NoError(t, endless.Close())
	assert.Equal(t, 3, strings.Count(stdout.String(), "\n"))
	assert.True(t, strings.HasPrefix(stderr.String(), "triage: interrupted: 3 items, 0 failed, "), stderr.String())
}

// full is a disk that is.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatCannotBeWrittenEndsTheRun(t *testing.T) {
	t.Parallel()
	program, _, stderr := started(t, agree, "testdata/tickets.jsonl")
	program.out = full{}
	assert.Equal(t, exitFailed, program.run(t.Context(), nil))
	assert.Equal(t, "triage: cannot write: no space left\n", stderr.String())
}

func TestMistakesOnTheCommandLineAreOneLine(t *testing.T) {
	t.Parallel()
	file := func(content string) string {
		name := filepath.Join(t.TempDir(), "q.json")
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
		return name
	}
	for want, args := range map[string][]string{
		"name a file": {},
		"flag provided but not defined: -nonsense":                                   {"-nonsense", "a"},
		`invalid value "csv" for flag -format: want auto, text, mail, mbox or jsonl`: {"-format", "csv", "a"},
		"missing.json: no such file":                                                 {"-questions", "missing.json", "a"},
		"line 2: not JSON":                                                           {"-questions", file("{\n,}"), "a"},
		"questions: ":                                                                {"-questions", file("{}"), "a"},
		"questions.x.type: ":                                                         {"-questions", file(`{"x":{"type":"maybe","instructions":"?"}}`), "a"},
		"questions.x.criteria":                                                       {"-questions", file(`{"x":{"type":"choice","instructions":"?"}}`), "a"},
		"not JSON":                                                                   {"-questions", file(`{}, "provider": {}`), "a"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, nil, &stdout, &stderr), args)
		assert.Empty(t, stdout.String())
		assert.Contains(t, stderr.String(), want)
		assert.True(t, strings.HasPrefix(stderr.String(), "triage: "))
		assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, exitDone, run(t.Context(), []string{"-h"}, nil, &stdout, &stderr))
	assert.Empty(t, stderr.String())
	for _, name := range []string{"usage: triage", "-questions", "-state", "-id", "-format"} {
		assert.Contains(t, stdout.String(), name)
	}
}

func TestQuestionsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	questions, err := parseQuestions([]byte(`{"z": {"type": "noul", "instructions": "?"},
		"a": {"type": "choice", "instructions": "?", "criteria": {"y": null, "b": "guide"}}}`))
	require.NoError(t, err)
	require.Len(t, questions, 2)
	assert.Equal(t, "z", questions[0].Name)
	assert.Equal(t, "y", questions[1].Options[0].Name)
	assert.JSONEq(t, `"guide"`, string(questions[1].Options[1].Guidance))
}

// written is a line of output.
type written struct {
	ID       string      `json:"id"`
	Source   string      `json:"source"`
	Error    string      `json:"error"`
	Provider string      `json:"provider"`
	Model    string      `json:"model"`
	Cost     json.Number `json:"cost"`
	Answers  struct {
		Team struct {
			Choice string `json:"choice"`
		} `json:"team"`
		Complaint struct {
			Noul float64 `json:"noul"`
		} `json:"complaint"`
		Urgency struct {
			Score float64 `json:"score"`
		} `json:"urgency"`
	} `json:"answers"`
}

// lines are the lines of output.
func lines(out io.Reader) ([]written, error) {
	var all []written
	for d := json.NewDecoder(out); d.More(); {
		var l written
		if err := d.Decode(&l); err != nil {
			return all, err
		}
		all = append(all, l)
	}
	return all, nil
}

func Example_run() {
	var out bytes.Buffer
	code := run(context.Background(), []string{"-id", "id", "testdata/tickets.jsonl"}, nil, &out, io.Discard)
	tickets, err := lines(&out)
	for _, l := range tickets {
		fmt.Println(l.ID, l.Answers.Team.Choice)
	}
	fmt.Println(code, err)
	// Output:
	// T-1001 billing
	// T-1002 shipping
	// T-1003 technical
	// T-1004 account
	// T-1005 sales
	// T-1006 technical
	// T-1007 feedback
	// T-1008 feedback
	// T-1009 shipping
	// T-1010 account
	// T-1011 billing
	// T-1012 feedback
	// 0 <nil>
}

func TestTheEmbeddedModelJudgesTicketsSensibly(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitDone, run(t.Context(), []string{"-id", "id", "testdata/tickets.jsonl"}, nil, &stdout, &stderr))
	assert.Regexp(t, `^triage: 12 items, 0 failed, \d+ tokens \(\d+ in, 36 out\), cost \$0, \d+\.\d items/s\n$`, stderr.String())
	all, err := lines(&stdout)
	require.NoError(t, err)
	require.Len(t, all, 12)
	tickets := map[string]written{}
	for _, l := range all {
		tickets[l.ID] = l
		assert.Equal(t, "embedded", l.Provider)
		assert.True(t, strings.HasPrefix(l.Model, "signalbox/similarity-en-1-"), l.Model)
		assert.Equal(t, json.Number("0"), l.Cost)
	}
	assert.Greater(t, tickets["T-1006"].Answers.Complaint.Noul, 0.7, "production is down")
	assert.Greater(t, tickets["T-1008"].Answers.Complaint.Noul, 0.9, "very angry")
	assert.Less(t, tickets["T-1007"].Answers.Complaint.Noul, 0.1, "thanks")
	assert.Greater(t, tickets["T-1006"].Answers.Urgency.Score, 2.5, "production is down")
	assert.Greater(t, tickets["T-1001"].Answers.Urgency.Score, 1.5, "charged twice")
	assert.Less(t, tickets["T-1011"].Answers.Urgency.Score, 1.5, "no hurry with the invoice")
	assert.Less(t, tickets["T-1012"].Answers.Urgency.Score, 0.5, "some day")
}

func TestTheEmbeddedModelJudgesMails(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitDone, run(t.Context(), []string{"testdata/inbox.mbox"}, nil, &stdout, &stderr))
	all, err := lines(&stdout)
	require.NoError(t, err)
	var got []string
	for _, l := range all {
		got = append(got, l.ID+" "+l.Source+" "+l.Answers.Team.Choice)
	}
	assert.Equal(t, []string{
		"double-charge@example.com testdata/inbox.mbox#1 billing",
		"crash@example.com testdata/inbox.mbox#2 technical",
		"parcel@example.com testdata/inbox.mbox#3 shipping",
		"4 testdata/inbox.mbox#4 technical",
	}, got)
	assert.Greater(t, all[3].Answers.Urgency.Score, 2.5)
}

func TestWhatTheModelCannotTakeIsAnItemThatFailed(t *testing.T) {
	t.Parallel()
	huge := `{"text":"` + strings.Repeat("word ", 4*maxTokens) + `"}` + "\n"
	double := `{"a":"one","a":"two"}` + "\n"
	longText := strings.Repeat("\u00dcberweisungsbest\u00e4tigungen ", maxText)
	longState, err := json.Marshal(map[string]string{"text": new(document).shorten(longText)})
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	in := strings.NewReader(huge + double + string(longState) + "\n")
	require.Equal(t, exitFailed, run(t.Context(), []string{"-format", "jsonl", "-"}, in, &stdout, &stderr))
	all, err := lines(&stdout)
	require.NoError(t, err)
	require.Len(t, all, 3)
	assert.Contains(t, all[0].Error, "context_length")
	assert.Contains(t, all[1].Error, "state")
	assert.Empty(t, all[2].Error, "what was shortened fits whatever it says")
}

func TestQuestionsMayHaveManyPhrases(t *testing.T) {
	t.Parallel()
	criteria := make([]string, 100)
	for i := range criteria {
		criteria[i] = fmt.Sprintf(`"option %d": ["phrase %d", "word %d", "text %d"]`, i, i, i, i)
	}
	file := filepath.Join(t.TempDir(), "questions.json")
	question := `{"which": {"type": "choice", "instructions": "?", "criteria": {` + strings.Join(criteria, ", ") + `}}}`
	require.NoError(t, os.WriteFile(file, []byte(question), 0o600))
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"-questions", file, "-"}, strings.NewReader("phrase 7"), &stdout, &stderr)
	assert.Equal(t, exitDone, code, stdout.String())
	assert.Contains(t, stdout.String(), `"choice":"option 7"`)
}
