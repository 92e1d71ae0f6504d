package guardrails

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// Scan applies the filters to every string value inside the state and inside
// each question's instructions and criteria; object keys and the names of
// questions and options are not looked at. It never changes req: a redacted
// request is a copy in which only the strings differ that something was found
// in, and of those only what was found.
//
// What is found is looked for in a folded form of the text as well: without
// escapes, characters that do not show and the disguises that Unicode offers.
//
// The patterns of all filters share a budget of 5·10⁸ steps, each an instruction
// of a pattern's program times a byte that it reads; what follows a match is
// read again where the pattern had looked ahead. A request that needs more is
// refused, as [ErrScanLimit]. A scan ends soon after ctx does.
//
// An error is the context's, an [*systemone.InvalidError] for a string without
// an end, that of a recognizer that failed while FailClosed is set, or [ErrScanLimit];
// then a [*router.Error] that may be returned to the caller.
func (s *Scanner) Scan(ctx context.Context, req *systemone.Request) (Verdict, error) {
	return s.scan(newMeter(ctx, nil, ""), req)
}

func (s *Scanner) scan(m *meter, req *systemone.Request) (Verdict, error) {
	defer m.stop()
	if len(s.rules) == 0 {
		return Verdict{Request: req}, nil
	}
	z := scan{Scanner: s, ctx: m.ctx, meter: m, machine: newMachine(m, s.programs), counts: make([]count, len(s.rules))}
	defer z.stop()
	out, err := z.request(req)
	if err != nil {
		return Verdict{}, err
	}
	v := z.verdict()
	v.Request = req
	if v.Blocked == nil {
		v.Request = out
	}
	return v, nil
}

// count is how often a rule found something in the parts of a request.
type count [places]int

// hit is something that a rule found in the decoded form of a text.
type hit struct {
	span

	rule int
}

// scan is one request on its way through a Scanner.
type scan struct {
	*Scanner

	ctx      context.Context //nolint:containedctx // a scan does not outlive the call that it belongs to
	text     text
	hits     []hit
	spans    []span
	starts   []int
	counts   []count
	patterns []string // what looked like prompt injection, for the report
	meter    *meter
	machine  *machine

	again bool // the current string was redacted and is looked at once more

	entities entityCall
}

// request returns req itself if nothing is to be redacted.
func (z *scan) request(req *systemone.Request) (*systemone.Request, error) {
	out := *req
	changed, err := z.field(&out.State, inState)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(z.rules, func(r rule) bool { return r.acts[inQuestions].on }) {
		for i := range req.Questions {
			q := req.Questions[i]
			redacted, err := z.question(&q)
			if err != nil {
				return nil, err
			}
			if redacted {
				if &out.Questions[0] == &req.Questions[0] {
					out.Questions = slices.Clone(req.Questions)
				}
				out.Questions[i], changed = q, true
			}
		}
	}
	if !changed {
		return req, nil
	}
	return &out, nil
}

func (z *scan) question(q *systemone.Question) (changed bool, err error) {
	for _, field := range []*json.RawMessage{&q.Instructions, &q.True, &q.False} {
		redacted, err := z.field(field, inQuestions)
		if err != nil {
			return false, err
		}
		changed = changed || redacted
	}
	options, levels := q.Options, q.Levels
	for i := range options {
		guidance := options[i].Guidance
		redacted, err := z.field(&guidance, inQuestions)
		if err != nil {
			return false, err
		}
		if redacted {
			if &q.Options[0] == &options[0] {
				q.Options = slices.Clone(options)
			}
			q.Options[i].Guidance, changed = guidance, true
		}
	}
	for i := range levels {
		level := levels[i]
		redacted, err := z.field(&level, inQuestions)
		if err != nil {
			return false, err
		}
		if redacted {
			if &q.Levels[0] == &levels[0] {
				q.Levels = slices.Clone(levels)
			}
			q.Levels[i], changed = level, true
		}
	}
	return changed, nil
}

// field scans the strings of one JSON value, and replaces it by a copy if
// something in it is to be redacted.
func (z *scan) field(value *json.RawMessage, place where) (changed bool, err error) {
	in := *value
	var out []byte
	copied := 0
	for i := 0; ; {
		n := bytes.IndexByte(in[i:], '"')
		if n < 0 {
			break
		}
		start := i + n + 1
		end, escaped := stringEnd(in, start)
		if end < 0 {
			return false, &systemone.InvalidError{Issues: []systemone.Issue{{Message: "a string has no end"}}}
		}
		if i = end + 1; isKey(in, i) {
			continue
		}
		if err := z.meter.work(int64(end - start + 1)); err != nil {
			return false, err
		}
		z.text.set(in[start:end], escaped)
		if err := z.find(place); err != nil {
			return false, err
		}
		replaced, err := z.settle(place)
		if err != nil {
			return false, err
		}
		if replaced != nil {
			out = append(append(out, in[copied:start]...), replaced...)
			copied = end
		}
	}
	if out == nil {
		return false, nil
	}
	*value = append(out, in[copied:]...)
	return true, nil
}

// maxPasses is how often a string is looked at. What stood next to a redacted
// part, and was no number or name by that, may be one then.
const maxPasses = 5

// settle returns the current string with what is to be redacted replaced, nil
// if that is nothing.
func (z *scan) settle(place where) (replaced []byte, err error) {
	defer func() { z.again = false }()
	for range maxPasses {
		list := z.redactions(place)
		if len(list) == 0 {
			break
		}
		var out []byte
		copied := 0
		for _, r := range list {
			part := z.text.inRaw(r.span)
			out = append(out, z.text.raw[copied:part.start]...)
			out = appendQuoted(out, z.rules[r.rule].label)
			copied = part.end
		}
		replaced = append(out, z.text.raw[copied:]...)
		z.again = true
		z.text.set(replaced, bytes.IndexByte(replaced, '\\') >= 0)
		if err := z.find(place); err != nil {
			return nil, err
		}
	}
	return replaced, nil
}

// stringEnd returns where the string whose content begins at i has its closing
// quote, -1 if it has none.
func stringEnd(b []byte, i int) (end int, escaped bool) {
	for start := i; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1, false
		}
		i += n
		slashes := 0
		for i-slashes > start && b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i, bytes.IndexByte(b[start:i], '\\') >= 0
		}
	}
}

// isKey reports whether the string that ends before i names a member: only then
// a colon follows.
func isKey(b []byte, i int) bool {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return at(b, i) == ':'
}
