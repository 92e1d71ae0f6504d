package sqlledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// errTally reports a list of sums that a tally did not write.
var errTally = errors.New("sqlledger: a list of new events is malformed")

// tally sums up what one transaction records for one account, in the units of the
// roll-ups: events that differ only in their figures are one sum. It is stored as
// JSON that contains each text once:
//
//	{"events":9,"texts":["2026-11-21","home",…],"sums":[[0,1,…,9,4500,180,0,0,9000,9000],…]}
//
// A sum is the indexes of its texts, in the order of [eventRow.texts], followed by its
// figures, in the order of [eventRow.figures].
type tally struct {
	events int64
	texts  []string
	places map[string]int  // index in texts
	last   [tallyTexts]int // indexes of the last event's texts
	sums   []tallySum
	of     map[[tallyTexts]int]int // index in sums, by the indexes of its texts
}

const (
	tallyTexts   = 9
	tallyFigures = 7
	tallyLeast   = 2 * (1 + tallyTexts + tallyFigures) // bytes of the shortest sum
)

type tallySum struct {
	texts   [tallyTexts]int
	figures [tallyFigures]int64
}

// texts returns the fields that events of one sum have in common.
func (r *eventRow) texts() [tallyTexts]*string {
	return [...]*string{&r.Day, &r.Workspace, &r.Member, &r.KeyHash, &r.Model, &r.Permaslug, &r.Endpoint, &r.Provider, &r.Reason}
}

// figures returns the fields that are added up.
func (r *eventRow) figures() [tallyFigures]*int64 {
	return [...]*int64{&r.Requests, &r.Prompt, &r.Completion, &r.Reasoning, &r.Cached, &r.Credit, &r.Total}
}

func tallyOf(events []*eventRow) *tally {
	t := &tally{places: make(map[string]int, 2*len(events)), of: make(map[[tallyTexts]int]int, len(events)), sums: make([]tallySum, 0, len(events))}
	for _, row := range events {
		t.add(row)
	}
	return t
}

func (t *tally) add(row *eventRow) {
	t.events++
	var sum tallySum
	for i, text := range row.texts() {
		sum.texts[i] = t.place(*text, t.last[i])
	}
	t.last = sum.texts
	for i, figure := range row.figures() {
		sum.figures[i] = *figure
	}
	at, ok := t.of[sum.texts]
	if !ok {
		t.of[sum.texts] = len(t.sums)
		t.sums = append(t.sums, sum)
		return
	}
	for i, figure := range sum.figures {
		t.sums[at].figures[i] = addUp(t.sums[at].figures[i], figure)
	}
}

// place returns the index of a text and adds the text if it is new. It tries last
// first, because successive events often have the same text.
func (t *tally) place(text string, last int) int {
	if last < len(t.texts) && t.texts[last] == text {
		return last
	}
	at, ok := t.places[text]
	if !ok {
		at = len(t.texts)
		t.places[text] = at
		t.texts = append(t.texts, text)
	}
	return at
}

func (t *tally) String() string {
	size := 64 + 64*len(t.sums)
	for _, text := range t.texts {
		size += len(text) + 3
	}
	b := make([]byte, 0, size)
	b = append(b, `{"events":`...)
	b = strconv.AppendInt(b, t.events, 10)
	b = append(b, `,"texts":[`...)
	for i, text := range t.texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, text)
	}
	b = append(b, `],"sums":[`...)
	for i := range t.sums {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.sums[i].append(b)
	}
	return string(append(b, `]}`...))
}

func (s *tallySum) append(b []byte) []byte {
	next := byte('[')
	for _, at := range s.texts {
		b = strconv.AppendInt(append(b, next), int64(at), 10)
		next = ','
	}
	for _, figure := range s.figures {
		b = strconv.AppendInt(append(b, next), figure, 10)
	}
	return append(b, ']')
}

// tallied parses the tally of an account: the number of its events, and their sums.
func tallied(text, account string) (events int64, sums []eventRow, err error) {
	r := tallyReader{text: text}
	r.expect(`{"events":`)
	events = r.number()
	r.expect(`,"texts":[`)
	var texts []string
	for !r.take("]") && r.err == nil {
		if len(texts) > 0 {
			r.expect(",")
		}
		texts = append(texts, r.quoted())
	}
	r.expect(`,"sums":[`)
	sums = make([]eventRow, 0, (len(text)-r.at)/tallyLeast)
	for !r.take("]") && r.err == nil {
		if len(sums) > 0 {
			r.expect(",")
		}
		sums = append(sums, r.sum(account, texts))
	}
	r.expect("}")
	if r.at < len(text) {
		r.fail("text after the end of the list")
	}
	if r.err != nil {
		return 0, nil, r.err
	}
	return events, sums, nil
}

// tallyReader parses from left to right and stops at the first error.
type tallyReader struct {
	text string
	at   int
	err  error
}

func (r *tallyReader) fail(why string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: byte %d: %s", errTally, r.at, why)
	}
}

// take consumes s if it is next, and reports whether it was.
func (r *tallyReader) take(s string) bool {
	if r.err != nil || !strings.HasPrefix(r.text[r.at:], s) {
		return false
	}
	r.at += len(s)
	return true
}

func (r *tallyReader) expect(s string) {
	if !r.take(s) {
		r.fail("expected " + s)
	}
}

func (r *tallyReader) sum(account string, texts []string) eventRow {
	row := eventRow{Account: account}
	next := "["
	for _, text := range row.texts() {
		r.expect(next)
		*text = r.one(texts)
		next = ","
	}
	for _, figure := range row.figures() {
		r.expect(next)
		*figure = r.number()
	}
	r.expect("]")
	return row
}

// one parses the index of a text and returns the text.
func (r *tallyReader) one(texts []string) string {
	at := r.number()
	if at < 0 || at >= int64(len(texts)) {
		r.fail(fmt.Sprintf("no text %d among %d", at, len(texts)))
		return ""
	}
	return texts[at]
}

func (r *tallyReader) number() int64 {
	if r.err != nil {
		return 0
	}
	rest := r.text[r.at:]
	size := 0
	for size < len(rest) && (rest[size] == '-' || '0' <= rest[size] && rest[size] <= '9') {
		size++
	}
	n, err := strconv.ParseInt(rest[:size], 10, 64)
	if digits := strings.TrimPrefix(rest[:size], "-"); err != nil || len(digits) > 1 && digits[0] == '0' {
		r.fail("expected a 64-bit integer")
		return 0
	}
	r.at += size
	return n
}

func (r *tallyReader) quoted() (text string) {
	r.expect(`"`)
	if r.err != nil {
		return ""
	}
	rest, escaped := r.text[r.at:], false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"' && escaped:
			if err := json.Unmarshal([]byte(r.text[r.at-1:r.at+i+1]), &text); err != nil {
				r.fail(err.Error())
			}
			r.at += i + 1
			return text
		case c == '"':
			r.at += i + 1
			return rest[:i]
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			r.fail("control character in a text")
			return ""
		}
	}
	r.fail("unterminated text")
	return ""
}
