package systemonehttp

import (
	"errors"
	"net/http"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Problems of a reply. The texts contain nothing of the upstream's.
var (
	errSyntax   = errors.New("reply is not valid JSON")
	errEnvelope = errors.New("reply is not in its envelope")
	errFailed   = errors.New("reply reports a failure")
	errUsage    = errors.New("a token count of the reply is negative or no whole number")
)

// decode reads the body of a 200.
func (c *Client) decode(raw upstream.Reply) (router.Reply, error) {
	data, err := c.unwrap(raw.Data)
	if err != nil {
		return router.Reply{}, err
	}
	response, err := systemone.DecodeResponse(data)
	if err != nil {
		return router.Reply{}, upstream.BadResponse(err)
	}
	reply := router.Reply{
		Answers: response.Answers,
		Usage:   response.Usage,
		ID:      upstream.Name(response.ID),
		Model:   upstream.Name(response.Model),
	}
	if err := c.count(&reply, data); err != nil {
		return router.Reply{}, err
	}
	reply.Usage.Cost = upstream.Cost(response.Usage.Cost)
	for i := range reply.Answers {
		reply.Answers[i].Legend = nil // the router builds legends from the request
	}
	if reply.ID == "" {
		reply.ID = headerID(raw.Header, c.profile.ReplyID)
	}
	return reply, nil
}

// count reads counts of 0 again, because the count may be absent or have another
// dialect's name.
func (c *Client) count(reply *router.Reply, data []byte) error {
	u := &reply.Usage
	if u.InputTokens > 0 && u.OutputTokens > 0 {
		return nil
	}
	in, out, missing, ok := upstream.Counts(upstream.Member(data, "usage"), c.input, c.output)
	if !ok {
		return upstream.BadReply(errUsage)
	}
	if u.InputTokens == 0 {
		u.InputTokens, reply.Uncounted.Input = in, missing.Input
	}
	if u.OutputTokens == 0 {
		u.OutputTokens, reply.Uncounted.Output = out, missing.Output
	}
	return nil
}

// unwrap returns the reply inside its envelope.
func (c *Client) unwrap(data []byte) ([]byte, error) {
	e := c.profile.Envelope
	if e.Result == "" {
		return data, nil
	}
	if systemone.CheckSyntax(data) != nil {
		return nil, upstream.BadReply(errSyntax)
	}
	if e.Success != "" && string(upstream.Member(data, e.Success)) != "true" {
		failed := upstream.BadReply(errFailed)
		if class, ok := upstream.Match(c.profile.rules(), http.StatusOK, data); ok {
			failed.Class, failed.BadReply = class, false
		}
		return nil, failed
	}
	result := upstream.Member(data, e.Result)
	if result == nil {
		return nil, upstream.BadReply(errEnvelope)
	}
	return result, nil
}

func headerID(h http.Header, names []string) string {
	for _, name := range names {
		if id := upstream.Name(h.Get(name)); id != "" {
			return id
		}
	}
	return ""
}

// silent returns the questions without an answer.
func silent(sent *systemone.Request, answers systemone.Answers) []router.Refusal {
	if len(answers) >= len(sent.Questions) {
		return nil // complete, or with an extra answer, which the check detects
	}
	answered := make(map[string]bool, len(answers))
	for _, a := range answers {
		answered[a.Name] = true
	}
	var refused []router.Refusal
	for _, q := range sent.Questions {
		if !answered[q.Name] {
			refused = append(refused, router.Refusal{Question: q.Name})
		}
	}
	return refused
}
