package similarity

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// read extracts the texts of a request and enforces the limits: the byte limits before
// any text is tokenised, those of tokens and phrases while texts are split. It stops when
// ctx ends.
func (p *Provider) read(ctx context.Context, r *systemone.Request) (*work, error) {
	state := reader{of: "the state is", most: bytesOf(p.limits.StateTokens)}
	texts, err := state.texts(ctx, r.State)
	if err != nil {
		return nil, err
	}
	w := &work{phrases: map[string]*sense{}, inquiries: make([]inquiry, len(r.Questions))}
	guidance := reader{of: "what describes the answers is", most: p.limits.PhraseBytes}
	for i := range r.Questions {
		if w.inquiries[i], err = inquire(ctx, &r.Questions[i], &guidance); err != nil {
			return nil, err
		}
	}
	cut := p.cutter(func(_, tokens int) error {
		if tokens > p.limits.StateTokens {
			return fmt.Errorf("%w: more than %d tokens of state", errTooLarge, p.limits.StateTokens)
		}
		return nil
	})
	if w.pieces, err = cut.split(ctx, texts); err != nil {
		return nil, err
	}
	count := 0
	for _, in := range w.inquiries {
		for j := range in.answers {
			if in.answers[j], err = p.fit(ctx, in.answers[j], p.limits.Phrases-count); err != nil {
				return nil, err
			}
			count += len(in.answers[j])
			for _, phrase := range in.answers[j] {
				w.phrases[phrase] = nil
			}
		}
	}
	return w, nil
}

// fit splits phrases that are too long for one vector, into at most most phrases. A text
// of ASCII has at most one token more than it has bytes, so most phrases need no count.
func (p *Provider) fit(ctx context.Context, phrases []string, most int) ([]string, error) {
	var fitting []string
	full := func(pieces, _ int) error {
		if pieces > most-len(fitting) {
			return fmt.Errorf("%w: more than %d phrases", errTooLarge, p.limits.Phrases)
		}
		return nil
	}
	for _, phrase := range phrases {
		if len(phrase) < p.encoder.Window() && ascii(phrase) {
			if err := full(1, 0); err != nil {
				return nil, err
			}
			fitting = append(fitting, phrase)
			continue
		}
		cut := p.cutter(full)
		pieces, err := cut.split(ctx, []string{phrase})
		if err != nil {
			return nil, err
		}
		for _, part := range pieces {
			fitting = append(fitting, part.text)
		}
	}
	return fitting, nil
}

func (p *Provider) cutter(full func(pieces, tokens int) error) cutter {
	return cutter{window: p.encoder.Window(), count: p.encoder.Count, full: full}
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
