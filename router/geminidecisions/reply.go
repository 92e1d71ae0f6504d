package geminidecisions

import (
	"errors"
	"strings"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// What is wrong with a reply; nothing of the upstream's text.
var (
	errSyntax  = errors.New("reply is not valid JSON")
	errName    = errors.New("an answer has a name that was not sent")
	errOption  = errors.New("an answer has an option that was not sent")
	errBlocked = errors.New("reply has answers although its request was blocked")
	errUsage   = errors.New("reply counts tokens by what is no whole number, or negative")
)

// decode reads a reply to these questions. Its errors are [*router.UpstreamError] and
// may be logged.
func decode(data []byte, questions []systemone.Question) (router.Reply, error) {
	if systemone.CheckSyntax(data) != nil {
		return router.Reply{}, upstream.BadReply(errSyntax)
	}
	reply := router.Reply{}
	if !count(&reply, upstream.Member(data, "usage")) {
		return router.Reply{}, upstream.BadReply(errUsage)
	}
	if refusal, ok := blocked(data); ok {
		for range upstream.Members(upstream.Member(data, "answers")) {
			return router.Reply{}, upstream.BadAnswer(errBlocked)
		}
		for i := range questions {
			refusal.Question = questions[i].Name
			reply.Refused = append(reply.Refused, refusal)
		}
		return reply, nil
	}
	response, err := systemone.DecodeResponse(data)
	if err != nil {
		return router.Reply{}, upstream.BadResponse(err)
	}
	reply.Answers = response.Answers
	for i := range reply.Answers {
		if err := restore(&reply.Answers[i], questions); err != nil {
			return router.Reply{}, upstream.BadAnswer(err)
		}
	}
	return reply, nil
}

// blocked reports whether filters of the service kept it from answering, and how it
// refuses every question then. All reasons are for safety, unknown ones too, except
// those that say nothing.
func blocked(data []byte) (router.Refusal, bool) {
	feedback := upstream.Member(data, "prompt_feedback")
	reason := upstream.Member(feedback, "block_reason")
	if reason == nil || string(reason) == `""` {
		return router.Refusal{}, false
	}
	refusal := router.Refusal{Text: upstream.Refusal(upstream.Member(feedback, "block_reason_message")), Safety: true}
	switch strings.ToLower(upstream.String(reason)) {
	case "other", "block_reason_unspecified", "blocked_reason_unspecified":
		refusal.Safety = false
	}
	return refusal, true
}

func count(reply *router.Reply, usage []byte) (ok bool) {
	in, out, missing, ok := upstream.Counts(usage, []string{"total_input_tokens"}, []string{"total_output_tokens"})
	u := &reply.Usage
	u.InputTokens, u.OutputTokens, reply.Uncounted = in, out, missing
	if cached := upstream.Member(usage, "total_cached_tokens"); ok && cached != nil {
		u.CachedTokens, ok = systemone.ParseCount(cached)
	}
	return ok
}

// restore gives an answer the names of its question and of its options. Whether it
// answers the question is for the router to check.
func restore(a *systemone.Answer, questions []systemone.Question) error {
	at, ok := position(a.Name, questionLetter, len(questions))
	if !ok {
		return errName
	}
	q := &questions[at]
	a.Name, a.Legend = q.Name, nil // the router's own is made from the request
	if a.Kind != systemone.Choice || !renamed(q) {
		return nil
	}
	option := func(label *string) bool {
		at, ok := position(*label, optionLetter, len(q.Options))
		if ok {
			*label = q.Options[at].Name
		}
		return ok
	}
	if !option(&a.Choice) {
		return errOption
	}
	for i := range a.Probabilities {
		if !option(&a.Probabilities[i].Label) {
			return errOption
		}
	}
	return nil
}
