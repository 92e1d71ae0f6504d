package guardrails

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// Entity is something that an [EntityRecognizer] found.
type Entity struct {
	Slug       string // [PersonName] or [Address]
	Start, End int    // in bytes
}

// EntityRecognizer finds persons' names and addresses in a text. One that asks
// a service must give up when ctx ends. It must be safe for concurrent use. What
// it returns for other slugs or outside the text is ignored.
type EntityRecognizer interface {
	Recognize(ctx context.Context, text string) ([]Entity, error)
}

// ErrUnrecognized is the cause of the refusal of a request whose names and
// addresses could not be looked for.
var ErrUnrecognized = errors.New("guardrails: the recognizer of names and addresses failed")

// entityCall is the use of a recognizer for one request.
type entityCall struct {
	ctx    context.Context //nolint:containedctx // it does not outlive the scan that it belongs to
	cancel context.CancelFunc
	failed bool
	text   []byte // that found belongs to
	found  []Entity
}

// stop ends what was begun for a request.
func (z *scan) stop() {
	if z.entities.cancel != nil {
		z.entities.cancel()
	}
}

// recognize adds the entities of one kind. The two kinds share one call.
func (z *scan) recognize(k kind) error {
	if h, ok := z.cfg.Recognizer.(Heuristic); ok {
		z.spans = h.find(z.spans, z.text.folded, k, z.meter)
		return nil
	}
	if err := z.ask(); err != nil {
		return err
	}
	for _, e := range z.entities.found {
		if e.Slug == builtins()[k].slug && 0 <= e.Start && e.Start < e.End && e.End <= len(z.text.folded) {
			z.spans = append(z.spans, span{e.Start, e.End})
		}
	}
	return nil
}

// ask calls the recognizer for the current text, unless it was asked already or
// has failed for this request.
func (z *scan) ask() error {
	c := &z.entities
	b := z.text.folded
	if c.failed || len(c.text) == len(b) && &c.text[0] == &b[0] {
		return nil
	}
	c.text, c.found = b, nil
	if c.cancel == nil {
		c.ctx, c.cancel = context.WithTimeout(z.ctx, z.cfg.RecognizerTimeout)
	}
	found, err := z.cfg.Recognizer.Recognize(c.ctx, string(b))
	if err == nil {
		err = c.ctx.Err()
	}
	if err == nil {
		c.found = found
		return nil
	}
	if z.ctx.Err() != nil {
		return z.ctx.Err()
	}
	if z.cfg.FailClosed {
		return &router.Error{Class: router.NoCapacity, Err: fmt.Errorf("%w: %w", ErrUnrecognized, err)}
	}
	c.failed = true
	return nil
}

// stages tells which filters could not act because the recognizer failed.
func (c *entityCall) stages(rules []rule) []router.Stage {
	var list []router.Stage
	for _, r := range rules {
		if !c.failed || r.kind != kindPerson && r.kind != kindAddress {
			continue
		}
		list = append(list, r.acts[inState].attribute(router.Stage{
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
