package content

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

// Scan applies the filters to a request: to every string and number inside the state, the
// instructions, the criteria and the provider's options, and to the names of questions,
// options and members. It also searches the folded forms that the package documentation
// describes.
//
// Scan never changes req. A redacted request is a copy that differs only where something
// was found. In strings and names a label replaces the text, a number is replaced as a
// whole, and names that become equal are numbered: [EMAIL], [EMAIL_2]. [Verdict.Names]
// restores the names in answers.
//
// A scan that takes longer than about 500 µs waits for one of the engine's places.
// account identifies the tenant, because one account may use at most half of the places,
// rounded up.
//
// The patterns of all filters share a budget of 5·10⁸ steps. A step is one instruction of
// a pattern's program times one byte that it reads; text after a match is read again if
// the pattern had looked ahead. The builtin filters share another budget, which only
// adversarial texts exhaust, such as megabytes of nothing but numbers, phrases or
// escapes. A request that exceeds a budget is refused with [ErrScanLimit]. A scan ends
// soon after ctx does.
//
// Scan returns the error of ctx, an [*systemone.InvalidError] for a string without an end
// or of more than 256 MiB, or a [*router.Error] that may be shown to the caller: it wraps
// [ErrScanLimit], or [ErrUnrecognized] if FailClosed is set and the recognizer failed.
func (s *Scanner) Scan(ctx context.Context, account string, req *systemone.Request) (Verdict, error) {
	if len(s.rules) == 0 {
		return Verdict{Request: req}, nil
	}
	m := newMeter(ctx, s.engine.gate, account)
	defer m.stop()
	z := scan{Scanner: s, ctx: m.ctx, meter: m, machine: newMachine(m, s.programs), counts: make([]count, len(s.rules))}
	z.text.meter, z.around.text.meter = m, m
	defer z.stop()
	out, err := z.request(req)
	if err == nil && z.unconfirmed && len(z.known) > 0 {
		z.second = true
		out, err = z.request(out)
	}
	if err != nil {
		return Verdict{}, err
	}
	v := z.verdict()
	v.Request = req
	if v.Blocked == nil {
		v.Request, v.Names = out, renamed(req, out)
		if v.Names != nil {
			out.Models = v.Names.entries(req.Models)
		}
	}
	return v, nil
}

// count is how many hits a rule has in each part of a request.
type count [places]int

// hit is what a rule found in the decoded form of a text.
type hit struct {
	span

	rule int
}

// scan is the state of scanning one request.
type scan struct {
	*Scanner

	ctx      context.Context //nolint:containedctx // a scan does not outlive the call that it belongs to
	walk     walk
	around   surroundings
	text     text
	hits     []hit
	spans    []span
	starts   []int
	counts   []count
	patterns []string // suspected prompt injection, for the report
	meter    *meter
	machine  *machine

	again bool // the current string was redacted and is scanned once more

	known       map[string]struct{} // digits of the numbers that context identified
	unconfirmed bool                // a number without context was passed over before
	second      bool                // this is the second pass, for such numbers

	entities entityCall
}

// request scans a request and returns its redacted copy, or req itself if nothing is
// redacted.
func (z *scan) request(req *systemone.Request) (*systemone.Request, error) {
	out := *req
	changed, err := z.field(&out.State, inState)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(z.rules, func(r rule) bool { return r.acts[inQuestions].on }) {
		for _, part := range [...]func(*systemone.Request) (bool, error){z.questions, z.options} {
			redacted, err := part(&out)
			if err != nil {
				return nil, err
			}
			changed = changed || redacted
		}
	}
	if !changed {
		return req, nil
	}
	return &out, nil
}

// questions scans the questions of a request and replaces them by copies where it redacts
// something.
func (z *scan) questions(q *systemone.Request) (changed bool, err error) {
	list := q.Questions
	for i := range list {
		each := list[i]
		redacted, err := z.question(&each)
		if err != nil {
			return false, err
		}
		if redacted {
			if !changed {
				q.Questions = slices.Clone(list)
			}
			q.Questions[i], changed = each, true
		}
	}
	named, redacted, err := z.renameQuestions(q.Questions)
	q.Questions = named
	return changed || redacted, err
}

// options scans the options that the caller gave for providers, because they are sent
// upstream.
func (z *scan) options(q *systemone.Request) (changed bool, err error) {
	if q.Provider == nil {
		return false, nil
	}
	list := q.Provider.Options
	for i := range list {
		options := list[i].Options
		redacted, err := z.field(&options, inQuestions)
		if err != nil {
			return false, err
		}
		if redacted {
			if !changed {
				preferences := *q.Provider
				preferences.Options = slices.Clone(list)
				q.Provider = &preferences
			}
			q.Provider.Options[i].Options, changed = options, true
		}
	}
	return changed, nil
}

func (z *scan) question(q *systemone.Question) (changed bool, err error) {
	for _, field := range []*json.RawMessage{&q.Instructions, &q.True, &q.False} {
		redacted, err := z.field(field, inQuestions)
		if err != nil {
			return false, err
		}
		changed = changed || redacted
	}
	z.around.question, z.around.asked = q, nil
	defer func() { z.around.question = nil }()
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
	named, redacted, err := z.renameOptions(q.Options)
	q.Options = named
	return changed || redacted, err
}

// maxPasses is how often a string is scanned. After a redaction the remaining text may
// match a filter that it did not match before, because its neighbours changed.
const maxPasses = 5

// redact returns the current text with labels for what is to be redacted, or nil if there
// is nothing. If even the last pass finds something, the whole text becomes a label.
// quoted says that the text is the content of a JSON string.
func (z *scan) redact(place where, quoted bool) (replaced []byte, err error) {
	defer func() { z.again = false }()
	label := func(out []byte, h hit) []byte {
		if quoted {
			return jsontext.AppendText(out, z.rules[h.rule].label)
		}
		return append(out, z.rules[h.rule].label...)
	}
	for pass := range maxPasses {
		list := z.redactions(place)
		if len(list) == 0 {
			break
		}
		if pass == maxPasses-1 {
			return label(nil, list[0]), nil
		}
		var out []byte
		copied := 0
		for _, r := range list {
			part := z.text.inRaw(r.span)
			out = append(out, z.text.raw[copied:part.start]...)
			out = label(out, r)
			copied = part.end
		}
		replaced = append(out, z.text.raw[copied:]...)
		z.again = true
		z.text.set(replaced, quoted && bytes.IndexByte(replaced, '\\') >= 0)
		if err := z.find(place); err != nil {
			return nil, err
		}
	}
	return replaced, nil
}
