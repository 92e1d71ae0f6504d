package router

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// usualSheet is the bytes of most contexts and of most questions.
const usualSheet = 512

// digest is a SHA-256.
type digest = [sha256.Size]byte

// sheetDigests computes the keys by which calls recognize the same question sheet.
// It hashes the state and each question once, however many endpoints are looked at.
// The zero value is ready for one call with one list of questions.
//
// Every text is hashed with its length before it, so that different sheets never
// have the same bytes.
type sheetDigests struct {
	buffer    []byte
	states    [2]digest // of the state with its parts, and of the state without them
	hashed    [2]bool
	questions []digest // in the order of the request
}

// context is the digest of everything but the questions that decides an answer: the
// account, the endpoint, its dated model, and what goes upstream beside the
// questions. The credential is the one used upstream; the operator's is "".
func (d *sheetDigests) context(account string, e *Endpoint, m *Model, a *Attempt) digest {
	state := d.state(a.Request, e.Limits.Parts)
	if d.buffer == nil {
		d.buffer = make([]byte, 0, usualSheet)
	}
	b := append(d.buffer[:0], byte(a.Request.Dialect))
	b = append(append(b, state[:]...), e.ID[:]...)
	b = appendText(b, account)
	b = appendText(b, a.Credential)
	b = appendText(b, m.Permaslug)
	b = appendText(b, a.Model)
	b = appendText(b, a.User)
	b = appendText(b, a.Options)
	d.buffer = b
	return sha256.Sum256(b)
}

// state returns the digest of the state as it goes upstream.
func (d *sheetDigests) state(q *systemone.Request, parts bool) digest {
	i := 0
	if !parts {
		i = 1
	}
	if !d.hashed[i] {
		d.states[i], d.hashed[i] = sha256.Sum256(q.State), true
	}
	return d.states[i]
}

// question returns the digest of the i-th question: its kind, its instructions and
// its criteria in their order, without its name.
func (d *sheetDigests) question(qs []systemone.Question, i int) digest {
	if d.questions == nil {
		d.questions = make([]digest, 0, len(qs))
	}
	for j := len(d.questions); j <= i; j++ {
		d.buffer = appendQuestion(d.buffer[:0], &qs[j])
		d.questions = append(d.questions, sha256.Sum256(d.buffer))
	}
	return d.questions[i]
}

// sheet is the digest of a whole sheet: its context and its questions with their
// names, in their order.
func (d *sheetDigests) sheet(context digest, qs []systemone.Question) digest {
	if len(qs) > 0 {
		d.question(qs, len(qs)-1)
	}
	b := append(d.buffer[:0], context[:]...)
	for i := range qs {
		b = appendText(b, qs[i].Name)
		b = append(b, d.questions[i][:]...)
	}
	d.buffer = b
	return sha256.Sum256(b)
}

func appendQuestion(b []byte, q *systemone.Question) []byte {
	b = appendText(b, q.Kind)
	b = appendRaw(b, q.Instructions)
	switch q.Kind {
	case systemone.Noul:
		b = appendRaw(appendRaw(b, q.True), q.False)
	case systemone.Choice:
		b = binary.AppendUvarint(b, uint64(len(q.Options)))
		for i := range q.Options {
			b = appendRaw(appendText(b, q.Options[i].Name), q.Options[i].Guidance)
		}
	case systemone.Score:
		b = binary.AppendUvarint(b, uint64(len(q.Levels)))
		for _, level := range q.Levels {
			b = appendRaw(b, level)
		}
	}
	return b
}

// appendRaw appends raw JSON; null, which is nil, differs from every text.
func appendRaw(b, raw []byte) []byte {
	if raw == nil {
		return append(b, 0)
	}
	return appendText(append(b, 1), raw)
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// retainsNothing reports whether a call demands zero retention, of all endpoints or
// of some. Such a call shares no answers with other calls, and none of its answers
// is remembered.
func (c *Call) retainsNothing() bool {
	if p := c.Request.Provider; p != nil && p.ZDR {
		return true
	}
	return slices.ContainsFunc(c.Policy, func(r Rule) bool { return r.ZDR || len(r.ZDRGroups) > 0 })
}
