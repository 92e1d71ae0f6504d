package ask

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// ErrUnanswered is the Err of an answer whose question is missing in the reply, or
// whose reply does not fit the question.
var ErrUnanswered = errors.New("ask: the question is not answered")

// Decider decides a call, such as a [router.Router] or a Service of the root package.
// Tests may use their own.
type Decider interface {
	Decide(ctx context.Context, c *router.Call) (*router.Result, error)
}

// Ask asks model the questions of T about a state and returns the answers. It is
// [Sheet.Ask] with a sheet of the zero T, which is built anew for each call. A
// program that asks often should build its sheet once, with [NewSheet].
func Ask[T any](ctx context.Context, d Decider, model string, state any, set ...func(*router.Call)) (T, *router.Result, error) {
	var zero T
	s, err := NewSheet(zero)
	if err != nil {
		return zero, nil, err
	}
	return s.Ask(ctx, d, model, state, set...)
}

// Ask asks model the questions of the sheet about a state, a string or any value
// that [systemone.JSON] takes, and returns the answers. Each set may change the
// call before it is decided: its principal, its idempotency key, and its request's
// preferences, session and user. It may keep the call, to read its report
// afterwards. A nil set is skipped. Ask is safe for concurrent use.
//
// Where d fails or the reply lacks an answer, the questions concerned get their
// default. If each of them has one, the error is nil. The answers then say that
// they are defaults, and why (Defaulted, Err), and the result is empty if d
// returned none. If one has no default, the result is nil and the error is that of
// d, or [ErrUnanswered] with the field. The returned T has the other answers and
// defaults even then.
//
// Defaults hide no mistake. These failures are errors whatever the defaults:
//
//   - a state that cannot be sent
//   - a request that the router itself refuses ([router.InvalidRequest], as for an
//     unknown model)
//   - any failure of d after ctx was cancelled
//
// A deadline that passed and a state that an upstream refuses are not among them.
//
// A dry run has no answers: its error is nil, and Err of each answer is
// [ErrUnanswered].
func (s *Sheet[T]) Ask(ctx context.Context, d Decider, model string, state any, set ...func(*router.Call)) (T, *router.Result, error) {
	var v T
	switch {
	case s == nil || len(s.entries) == 0:
		return v, nil, fmt.Errorf("%w: the Sheet was not made by NewSheet", ErrSheet)
	case d == nil || typednil.Is(d):
		return v, nil, errors.New("ask: the Decider is nil")
	}
	v = s.template
	raw, err := systemone.JSON(state)
	if err != nil {
		return v, nil, fmt.Errorf("ask: the state: %w", err)
	}
	call := &router.Call{Request: &systemone.Request{Model: model, State: raw, Questions: s.questions}}
	for _, f := range set {
		if f != nil {
			f(call)
		}
	}
	res, failed := d.Decide(ctx, call)
	if res == nil {
		res = &router.Result{}
	}
	err = s.fill(reflect.ValueOf(&v).Elem(), res.Response.Answers, failed)
	switch {
	case failed == nil && call.DryRun:
		return v, res, nil
	case failed != nil && (err != nil || refused(failed) || errors.Is(ctx.Err(), context.Canceled)):
		return v, nil, failed
	}
	return v, res, err
}

// refused reports whether the router itself refused the request. It would also
// refuse every later request of the same sheet and model.
func refused(err error) bool {
	if _, upstream := errors.AsType[*router.UpstreamError](err); upstream {
		return false
	}
	e, ok := errors.AsType[*router.Error](err)
	return ok && e.Class == router.InvalidRequest || errors.Is(err, systemone.ErrInvalid)
}

// fill sets answers and defaults in v. The error names the questions that have
// neither.
func (s *Sheet[T]) fill(v reflect.Value, answers systemone.Answers, failed error) error {
	var missing []error
	room := make([]systemone.Probability, 0, s.room)
	for i := range s.entries {
		e := &s.entries[i]
		to := target{v.FieldByIndex(e.index)}
		a := find(answers, i, e.wire.Name)
		if failed == nil && a != nil && e.fits(a) {
			room = to.answer(e.spec, a, room)
			continue
		}
		err := failed
		if err == nil {
			err = fmt.Errorf("%w: %s", ErrUnanswered, e.field)
		}
		to.unanswered(e.spec, err)
		if e.byDefault < 0 {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

// find returns the answer to a question, whose expected index is i.
func find(answers systemone.Answers, i int, name string) *systemone.Answer {
	if i < len(answers) && answers[i].Name == name {
		return &answers[i]
	}
	for j := range answers {
		if answers[j].Name == name {
			return &answers[j]
		}
	}
	return nil
}

// fits reports whether an answer fits this question. A router has checked that;
// another decider may not have.
func (s *spec) fits(a *systemone.Answer) bool {
	if a.Kind != s.wire.Kind {
		return false
	}
	if a.Kind == systemone.Noul {
		return isProbability(a.Noul)
	}
	if n := len(a.Probabilities); n != 0 && (n != len(s.labels) || !isProbability(a.Confidence)) {
		return false
	}
	for i, p := range a.Probabilities {
		if p.Label != s.wireLabel(i) || !isProbability(p.P) {
			return false
		}
	}
	if a.Kind == systemone.Score {
		return a.Score >= 0 && a.Score <= float64(len(s.labels)-1)
	}
	return slices.Contains(s.labels, a.Choice)
}

func isProbability(p float64) bool { return p >= 0 && p <= 1 } // false for NaN

// wireLabel is the label of an option or level in a reply.
func (s *spec) wireLabel(i int) string {
	if s.wire.Kind == systemone.Score {
		return strconv.Itoa(i)
	}
	return s.labels[i]
}

// target is the Choice, Noul or Score that receives an answer.
type target struct{ reflect.Value }

// setCommon sets the part common to all three types, which is their last field.
func (t target) setCommon(a Answer) {
	if to, ok := reflect.TypeAssert[*Answer](t.Field(t.NumField() - 1).Addr()); ok {
		*to = a
	}
}

// answer sets a model's answer. Probabilities that are not the reply's own are
// appended to room, which is returned.
func (t target) answer(s *spec, a *systemone.Answer, room []systemone.Probability) []systemone.Probability {
	from := len(room)
	to := Answer{Confidence: a.Confidence, Probabilities: a.Probabilities}
	switch a.Kind {
	case systemone.Choice:
		t.Field(0).SetString(a.Choice)
	case systemone.Score:
		for i, p := range a.Probabilities {
			room = append(room, systemone.Probability{Label: s.labels[i], P: p.P})
		}
		if len(a.Probabilities) > 0 {
			to.Probabilities = room[from:len(room):len(room)]
		}
		t.Field(0).SetFloat(a.Score)
		t.Field(1).SetString(s.labels[mode(a)])
	default:
		p := [2]float64{a.Noul, 1 - a.Noul}
		room = append(room, systemone.Probability{Label: yesLabel, P: p[0]}, systemone.Probability{Label: noLabel, P: p[1]})
		to.Probabilities, to.Confidence = room[from:len(room):len(room)], systemone.ChoiceConfidence(p[:])
		t.Field(0).SetBool(p[0] > p[1])
	}
	if len(to.Probabilities) == 0 {
		to.Confidence = 0
	}
	t.setCommon(to)
	return room
}

// mode returns the index of the most probable level, or of the one nearest to the
// score.
func mode(a *systemone.Answer) int {
	best := -1
	for i, p := range a.Probabilities {
		if best < 0 || p.P > a.Probabilities[best].P {
			best = i
		}
	}
	if best < 0 {
		return int(math.Round(a.Score))
	}
	return best
}

// unanswered sets the default, if there is one, and why.
func (t target) unanswered(s *spec, err error) {
	t.setCommon(Answer{Err: err, Defaulted: s.byDefault >= 0})
	if s.byDefault < 0 {
		return
	}
	label := s.labels[s.byDefault]
	switch s.wire.Kind {
	case systemone.Choice:
		t.Field(0).SetString(label)
	case systemone.Score:
		t.Field(0).SetFloat(float64(s.byDefault))
		t.Field(1).SetString(label)
	default:
		t.Field(0).SetBool(label == yesLabel)
	}
}
