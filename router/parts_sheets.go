package router

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/signalbox/signalbox/internal/panics"
	"github.com/signalbox/signalbox/internal/split"
	"github.com/signalbox/signalbox/systemone"
)

// bound returns the most that all sheets of all rounds may cost at the candidate.
func (p *inParts) bound() Amount {
	var sum USD
	for _, questions := range p.sheets.Bounds(largest) {
		part := *p.request
		part.Questions = questions
		size := sizeOf(&part)
		sum += p.by.Endpoint.Pricing.Bound(size.at(p.by.Endpoint))
	}
	return priced(sum, p.by.Credential)
}

// cutsOptions reports whether a choice is cut, so that another endpoint may answer
// what this one did not.
func (p *inParts) cutsOptions() bool {
	return slices.ContainsFunc(p.request.Questions, func(q systemone.Question) bool {
		return len(q.Options) > p.by.Endpoint.Limits.Options && p.by.Endpoint.Limits.Options > 0
	})
}

// sheet plans the walk of one sheet. One that has a part of a choice is asked at the
// candidate alone.
func (p *inParts) sheet(ctx context.Context, questions []systemone.Question) *walk {
	request, shape := p.part(questions)
	plan := NewPlan(p.input(ctx, p.group, shape)).without(p.without)
	cut := slices.ContainsFunc(questions, func(q systemone.Question) bool { return p.sheets.Source(q.Name) != q.Name })
	if cut {
		plan.Candidates = slices.DeleteFunc(plan.Candidates, func(c Candidate) bool {
			return c.Endpoint != p.by.Endpoint || c.Credential != p.by.Credential
		})
	}
	w := p.leg(p.query, request, shape, plan)
	w.leg.Reason, w.leg.asked = LegSplit, sourcesOf(p.sheets, questions)
	w.behind = w.behind || cut && p.more
	return w
}

// sourcesOf returns the questions of the request that a sheet is about.
func sourcesOf(sheets *split.Sheets, questions []systemone.Question) (names []string) {
	for _, q := range questions {
		if name := sheets.Source(q.Name); len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// limitsOf returns what an endpoint takes at once.
func limitsOf(e *Endpoint) split.Limits {
	return split.Limits{Questions: e.Limits.Questions, Options: e.Limits.Options}
}

// walkAll runs walks, at most sheetsAtOnce at once, in goroutines that end before it
// returns. After a failure no further walk begins. A panic, which nothing above a
// goroutine could recover, fails the walk.
func (p *inParts) walkAll(ctx context.Context, walks []*walk) ([]systemone.Answers, []error) {
	answers, errs := make([]systemone.Answers, len(walks)), make([]error, len(walks))
	if len(walks) == 1 {
		answers[0], errs[0] = walks[0].walk(ctx)
		return answers, errs
	}
	var running sync.WaitGroup
	var failed atomic.Bool
	places := make(chan struct{}, sheetsAtOnce)
	for i, w := range walks {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			if failed.Load() {
				return
			}
			panicked := panics.Catch(func() error {
				answers[i], errs[i] = w.walk(ctx)
				return nil
			})
			if panicked != nil {
				errs[i] = &Error{Class: Server, Err: panicked}
			}
			if errs[i] != nil && !w.declined(errs[i]) {
				failed.Store(true)
			}
		})
	}
	running.Wait()
	return answers, errs
}

// largest returns an option whose bound is no smaller than that of any of the
// options, at every endpoint.
func largest(options []systemone.Option) systemone.Option {
	var out systemone.Option
	var text, value json.RawMessage
	for _, o := range options {
		if jsonSize(o.Name) > jsonSize(out.Name) {
			out.Name = o.Name
		}
		switch {
		case isText(o.Guidance) && len(o.Guidance) > len(text):
			text = o.Guidance
		case !isText(o.Guidance) && len(o.Guidance) > len(value):
			value = o.Guidance
		}
	}
	switch {
	case len(text) >= 2*len(value): // a value counts twice at most
		out.Guidance = text
	case len(text) > len(value): // spaces count like the rest of a value
		out.Guidance = append(slices.Clone(value), bytes.Repeat([]byte(" "), len(text)-len(value))...)
	default:
		out.Guidance = value
	}
	return out
}
