package content

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// Entity is a name or address that an [EntityRecognizer] found.
type Entity struct {
	Slug       string // [PersonName] or [Address]
	Start, End int    // byte offsets in the text
}

// EntityRecognizer finds names of persons and postal addresses in a text. It must be safe
// for concurrent use, and must return when ctx ends. The text is in NFKC, without
// invisible characters. Entities with other slugs or outside the text are ignored.
type EntityRecognizer interface {
	Recognize(ctx context.Context, text string) ([]Entity, error)
}

// ErrUnrecognized is wrapped by the refusal of a request whose names and addresses could
// not be checked.
var ErrUnrecognized = errors.New("content: the recognizer of names and addresses failed")

// entityCall is the state of the recognizer for one request.
type entityCall struct {
	ctx    context.Context //nolint:containedctx // an entityCall does not outlive its scan
	cancel context.CancelFunc
	failed bool
	text   []byte // text of found; nil before the recognizer was called for it
	of     form   // form of that text
	found  []Entity
}

// stop releases the context of the recognizer.
func (z *scan) stop() {
	if z.entities.cancel != nil {
		z.entities.cancel()
	}
}

// recognize adds the entities of one rule. Names and addresses share one call of the
// recognizer.
func (z *scan) recognize(rule int, place where) error {
	k := z.rules[rule].kind
	if z.around.number {
		return nil
	}
	if h, ok := z.engine.cfg.Recognizer.(Heuristic); ok {
		for i := range z.text.forms {
			if f := &z.text.forms[i]; !f.orders {
				if err := z.begin(f.b); err != nil {
					return err
				}
				z.spans = h.find(z.spans[:0], f.b, k, z.meter)
				z.hit(rule, place, f, z.spans)
			}
		}
		return z.meter.err
	}
	f, err := z.ask()
	if err != nil {
		return err
	}
	z.spans = z.spans[:0]
	for _, e := range z.entities.found {
		if e.Slug == builtins()[k].slug && 0 <= e.Start && e.Start < e.End && e.End <= len(f.b) {
			z.spans = append(z.spans, span{e.Start, e.End})
		}
	}
	z.hit(rule, place, &f, z.spans)
	return nil
}

// ask calls the recognizer for the current text, unless it was called for it already or
// has failed for this request. It returns the form of the text that the recognizer was
// given.
func (z *scan) ask() (form, error) {
	c := &z.entities
	if c.failed {
		return form{}, nil
	}
	if c.text != nil {
		return c.of, nil
	}
	c.of, c.found = form{b: z.text.decoded}, nil
	if !isPrintable(z.text.decoded) {
		c.of = z.text.fold(c.of, keepMarks)
	}
	c.text = c.of.b
	if c.cancel == nil {
		c.ctx, c.cancel = context.WithTimeout(z.ctx, z.engine.cfg.RecognizerTimeout)
	}
	found, err := z.engine.cfg.Recognizer.Recognize(c.ctx, string(c.text))
	if err == nil {
		err = c.ctx.Err()
	}
	if err == nil {
		c.found = found
		return c.of, nil
	}
	if z.ctx.Err() != nil {
		return form{}, z.ctx.Err()
	}
	if z.engine.cfg.FailClosed {
		return form{}, &router.Error{Class: router.NoCapacity, Err: fmt.Errorf("%w: %w", ErrUnrecognized, err)}
	}
	c.failed = true
	return form{}, nil
}

// stages reports the filters that did not run because the recognizer failed.
func (c *entityCall) stages(rules []rule) []router.Step {
	var list []router.Step
	for _, r := range rules {
		if !c.failed || r.kind != kindPerson && r.kind != kindAddress {
			continue
		}
		list = append(list, r.acts[inState].attribute(router.Step{
			Type:    "guardrail",
			Name:    "content_filter",
			Summary: r.title + ": not checked",
			Data: map[string]any{
				"action": r.acts[inState].action.String(), "detected": false, "failed": true,
				"engines": []string{"ner"}, "filter": r.slug,
			},
		}))
	}
	return list
}
