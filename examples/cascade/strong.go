package main

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// script answers tickets as their file says, in the place of a strong model.
type script map[string]ticket // by the JSON text of the state

func scripted(tickets []ticket) script {
	s := make(script, len(tickets))
	for _, t := range tickets {
		s[string(systemone.Text(t.Text))] = t
	}
	return s
}

var errUnknown = errors.New("the script has no such ticket")

// Decide answers the questions that it is asked, which in a cascade are those that the
// model before was unsure of.
func (s script) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	t, ok := s[string(a.Request.State)]
	if !ok {
		return router.Reply{}, &router.UpstreamError{Class: router.InvalidRequest, Err: errUnknown}
	}
	const sure, rest = 0.98, 0.01
	reply := router.Reply{Usage: systemone.Usage{InputTokens: router.ShapeOf(a.Request).PromptTokens}}
	for _, q := range a.Request.Questions {
		answer := systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: rest}
		if q.Kind == systemone.Noul && t.Refund {
			answer.Noul = sure
		}
		for _, o := range q.Options {
			p := systemone.Probability{Label: o.Name, P: rest}
			if o.Name == t.Desk {
				p.P = sure
			}
			answer.Probabilities, answer.Choice = append(answer.Probabilities, p), t.Desk
		}
		reply.Answers = append(reply.Answers, answer)
	}
	return reply, nil
}
