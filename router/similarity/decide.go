package similarity

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/wordvec"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// errRequest is the error of an invalid request, errTooLarge that of a request beyond the
// limits.
var (
	errRequest  = errors.New("similarity: invalid request")
	errTooLarge = errors.New("similarity: the request is too large")
)

// Decide answers every question of the attempt. Usage has the encoder's tokens of the
// state and of every phrase as input, and one token of output for each answer.
//
// Every error is an [*router.UpstreamError] with one of these classes:
//
//   - PayloadTooLarge: the request is beyond the limits;
//   - ProviderOverloaded: the queue is full;
//   - Timeout: ctx ended;
//   - InvalidRequest: the request has no questions, or is not valid;
//   - ProviderUnavailable: the encoder failed.
func (p *Provider) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	reply, err := p.decide(ctx, a.Request)
	if err == nil {
		return reply, nil
	}
	class := router.ProviderUnavailable
	switch {
	case errors.Is(err, errRequest):
		class = router.InvalidRequest
	case errors.Is(err, errTooLarge):
		class = router.PayloadTooLarge
	case errors.Is(err, errFull):
		class = router.ProviderOverloaded
	case ctx.Err() != nil:
		class = router.Timeout
	}
	return router.Reply{}, &router.UpstreamError{Class: class, Err: err}
}

func (p *Provider) decide(ctx context.Context, r *systemone.Request) (router.Reply, error) {
	if r == nil || len(r.Questions) == 0 {
		return router.Reply{}, fmt.Errorf("%w: it has no questions", errRequest)
	}
	if len(r.Questions) > p.limits.Questions {
		return router.Reply{}, fmt.Errorf("%w: %d questions, at most %d", errTooLarge, len(r.Questions), p.limits.Questions)
	}
	if err := p.gate.enter(); err != nil {
		return router.Reply{}, err
	}
	defer p.gate.leave()
	var w *work
	if err := p.gate.do(ctx, func() (err error) { w, err = p.read(ctx, r); return err }); err != nil {
		return router.Reply{}, err
	}
	if err := p.understand(ctx, w); err != nil {
		return router.Reply{}, err
	}
	reply := router.Reply{Model: UpstreamModel}
	err := p.gate.do(ctx, func() (err error) { reply.Answers, err = p.answers(ctx, r, w); return err })
	reply.Usage = systemone.Usage{InputTokens: w.tokens(), OutputTokens: int64(len(reply.Answers))}
	return reply, err
}

// work is the state of one request.
type work struct {
	pieces    []piece
	state     []*sense // one for each piece
	inquiries []inquiry
	phrases   map[string]*sense
}

func (w *work) tokens() int64 {
	var sum int64
	for _, s := range w.state {
		sum += int64(s.tokens)
	}
	for _, in := range w.inquiries {
		for _, phrases := range in.answers {
			for _, phrase := range phrases {
				sum += int64(w.phrases[phrase].tokens)
			}
		}
	}
	return sum
}

// understand encodes the pieces of the state and every phrase that is not cached, in
// parallel up to the number of workers.
func (p *Provider) understand(ctx context.Context, w *work) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers)
	w.state = make([]*sense, len(w.pieces))
	for i, part := range w.pieces {
		group.Go(func() error {
			return p.gate.do(ctx, func() (err error) {
				w.state[i], err = p.sense(ctx, part.text, part.tokens)
				return err
			})
		})
	}
	var fresh []string
	for phrase := range w.phrases {
		if known := p.cache.get(phrase); known != nil {
			w.phrases[phrase] = known
		} else {
			fresh = append(fresh, phrase)
		}
	}
	made := make([]*sense, len(fresh))
	for i, phrase := range fresh {
		group.Go(func() error {
			return p.gate.do(ctx, func() (err error) {
				made[i], err = p.phrase(ctx, phrase)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, phrase := range fresh {
		w.phrases[phrase] = made[i]
	}
	return nil
}

// phrase encodes a phrase and caches it. It looks into the cache again, because another
// request may have encoded the phrase meanwhile.
func (p *Provider) phrase(ctx context.Context, text string) (*sense, error) {
	if known := p.cache.get(text); known != nil {
		return known, nil
	}
	s, err := p.sense(ctx, text, p.encoder.Count(text))
	if err == nil {
		p.cache.put(text, s)
	}
	return s, err
}

func (p *Provider) sense(ctx context.Context, text string, tokens int) (*sense, error) {
	sentence, err := p.encoder.Encode(ctx, text)
	if err != nil {
		return nil, err
	}
	words := wordvec.Words(text)
	return &sense{
		tokens: max(tokens, 1), sentence: sentence,
		words: p.words.EncodeWords(words), overlap: newBag(words),
	}, nil
}

// answers scores every question. This takes microseconds for each phrase.
func (p *Provider) answers(ctx context.Context, r *systemone.Request, w *work) (systemone.Answers, error) {
	answers := make(systemone.Answers, len(r.Questions))
	for i := range r.Questions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q, in := &r.Questions[i], w.inquiries[i]
		senses := make([][]*sense, len(in.answers))
		for j, phrases := range in.answers {
			for _, phrase := range phrases {
				senses[j] = append(senses[j], w.phrases[phrase])
			}
		}
		probabilities, err := p.probabilities(q.Kind, in, w.state, senses)
		if err != nil {
			return nil, err
		}
		answers[i] = answer(q, probabilities)
	}
	return answers, nil
}

func (p *Provider) probabilities(kind systemone.Kind, in inquiry, state []*sense, answers [][]*sense) ([]float64, error) {
	if kind != systemone.Noul || len(answers) == 2 {
		return p.weights.choose(state, answers)
	}
	if len(answers) == 0 {
		return []float64{unsure}, nil
	}
	yes, err := p.weights.yes(state, answers[0])
	if in.against {
		yes = 1 - yes
	}
	return []float64{yes}, err
}
