package systemonehttp

import (
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// outgoing returns the request as the upstream takes it, usually the request
// itself, and the answers that need no upstream.
func (c *Client) outgoing(r *systemone.Request) (*systemone.Request, systemone.Answers) {
	rename := c.profile.PlainNames > 0 && slices.ContainsFunc(r.Questions, c.unusual)
	split := c.profile.NoSoleOption && slices.ContainsFunc(r.Questions, upstream.Sole)
	if !rename && !split {
		return r, nil
	}
	sent := *r
	sent.Questions = make([]systemone.Question, 0, len(r.Questions))
	var sole systemone.Answers
	for i, q := range r.Questions {
		if split && upstream.Sole(q) {
			sole = append(sole, upstream.SoleAnswer(q))
			continue
		}
		if rename {
			q.Name = position(i)
		}
		sent.Questions = append(sent.Questions, q)
	}
	return &sent, sole
}

// unusual reports whether the upstream refuses a question's name.
func (c *Client) unusual(q systemone.Question) bool {
	if q.Name == "" || len(q.Name) > c.profile.PlainNames {
		return true
	}
	for i := range len(q.Name) {
		b := q.Name[i]
		letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
		if !letter && b != '.' && b != '_' && b != '-' {
			return true
		}
	}
	return false
}

func position(i int) string { return "q" + strconv.Itoa(i) }

// restore gives answers the names that their questions had before outgoing. A name
// that was not sent is kept, and the check detects it.
func (c *Client) restore(reply *router.Reply, original, sent *systemone.Request) {
	if c.profile.PlainNames == 0 || original == sent || !slices.ContainsFunc(original.Questions, c.unusual) {
		return
	}
	names := make(map[string]string, len(original.Questions))
	for i, q := range original.Questions {
		names[position(i)] = q.Name
	}
	for i, a := range reply.Answers {
		if name, ok := names[a.Name]; ok {
			reply.Answers[i].Name = name
		}
	}
	for i := range reply.Refused {
		if name, ok := names[reply.Refused[i].Question]; ok {
			reply.Refused[i].Question = name
		}
	}
}

// appendBody writes the canonical body and, before its closing brace, the caller's
// options and user as far as the profile names them.
func (c *Client) appendBody(dst []byte, r *systemone.Request, a router.Attempt) []byte {
	dst = systemone.AppendUpstream(dst, a.Model, r)
	dst = dst[:len(dst)-1]
	if a.User != "" && c.profile.User != "" {
		dst = upstream.AppendName(dst, c.profile.User)
		dst = systemone.AppendString(dst, a.User)
	}
	return append(upstream.AppendOptions(dst, a.Options, c.profile.Options), '}')
}
