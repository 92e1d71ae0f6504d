package router

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// recollection is what one call may use of what is remembered, and may add to it. The
// zero value is a call that does neither.
type recollection struct {
	*remembering

	writes  bool
	mark    int64 // of remembering, when the call began
	out     outgoing
	digests sheetDigests // of all questions of the call
	learned []MemoryEntry
}

// recollection returns what a call may use of what is remembered. What the program
// has configured is the upper limit.
func (r *Router) recollection(c *Call) recollection {
	var mode systemone.Remember
	if c.Request.Routing != nil {
		mode = c.Request.Routing.Remember
	}
	if r.remembering == nil || mode == systemone.RememberOff || c.retainsNothing() {
		return recollection{}
	}
	return recollection{
		remembering: r.remembering,
		writes:      mode != systemone.RememberRead,
		mark:        r.remembering.mark(),
		out:         outgoing{call: c, sheet: c.Request, catalog: c.world.catalog},
	}
}

// context returns the digest of what an endpoint is asked beside the questions.
func (m *recollection) context(c *Call, e *Endpoint, model *Model, own *Credential) digest {
	a := m.out.attempt(c.world.byEndpoint[e.ID], own, time.Time{})
	return m.digests.context(c.Principal.Account, e, model, &a)
}

// recalled is a remembered answer, its age, and the candidate that gave it. The zero
// value is a question of which no answer is remembered.
type recalled struct {
	by     *Candidate
	answer systemone.Answer
	age    time.Duration
}

// recall returns what is remembered of the questions at the indexes ask, in their
// order, and how many there are. Of several answers it takes that of the candidate
// that comes first in the plan. It reads the store once if the first candidate gave
// all, and twice at most.
func (k *course) recall(ctx context.Context, ask []int32, candidates []Candidate) (found []recalled, n int) {
	if k.memory.remembering == nil || len(candidates) == 0 {
		return nil, 0
	}
	found = make([]recalled, len(ask))
	n = k.recallOf(ctx, found, ask, candidates[:1])
	if n < len(ask) && len(candidates) > 1 {
		n += k.recallOf(ctx, found, ask, candidates[1:])
	}
	return found, n
}

// recallOf fills in what some candidates answered, and returns how much it was.
func (k *course) recallOf(ctx context.Context, found []recalled, ask []int32, candidates []Candidate) (n int) {
	m, questions := &k.memory, k.merged.questions
	keys := make([]MemoryKey, 0, len(ask)*len(candidates))
	for i := range candidates {
		by := &candidates[i]
		sheet := m.context(k.call, by.Endpoint, by.Model(), by.Credential)
		for _, at := range ask {
			keys = append(keys, MemoryKey{Sheet: sheet, Question: m.digests.question(questions, int(at))})
		}
	}
	values := m.store.Get(ctx, keys, k.now)
	for i := range min(len(values), len(keys)) {
		at := i % len(ask)
		if values[i] == nil || found[at].by != nil {
			continue
		}
		q, by := &questions[ask[at]], &candidates[i/len(ask)]
		answer, given, ok := readRemembered(q, values[i])
		age := k.now.Sub(given)
		if !ok || age < 0 || age >= m.ttl || !m.own && check(q, &answer, by.Endpoint) != nil {
			continue
		}
		found[at], n = recalled{by: by, answer: answer, age: age}, n+1
	}
	return n
}

// check checks one answer of an endpoint again, because a store of the program may
// have changed it.
func check(q *systemone.Question, a *systemone.Answer, e *Endpoint) error {
	asked := systemone.Request{Questions: []systemone.Question{*q}}
	return systemone.Check(&asked, systemone.Answers{*a}, e.Tolerance)
}

// takeRecalled merges remembered answers, with a leg for each endpoint that gave some.
// Nothing is sent for such a leg, and it costs nothing.
func (k *course) takeRecalled(q query, ask []int32, found []recalled, plan Plan) {
	k.merged.spread()
	for i := range found {
		by := found[i].by
		if by == nil {
			continue
		}
		l := k.call.newLeg()
		l.Questions = make([]systemone.Question, 0, len(found)-i)
		l.Reason, l.Group, l.TriggeredBy, l.Plan, l.Remembered = q.reason, q.group, q.by, plan, by
		from := Provenance{Leg: len(k.call.Report.Legs) - 1, Attempt: -1}
		for j := i; j < len(found); j++ {
			if found[j].by != by {
				continue
			}
			from.Age = found[j].age
			l.Questions = append(l.Questions, k.merged.questions[ask[j]])
			k.merged.put(int(ask[j]), from, found[j].answer)
			found[j].by = nil
		}
	}
}

// learn notes the answers that attempts gave, to be remembered when the call has been
// charged. They are in the order of the call's questions.
func (k *course) learn(answers systemone.Answers, from func(question string) *AttemptRecord) {
	m := &k.memory
	if !m.writes {
		return
	}
	now := k.router.cfg.Now()
	var sheet digest
	var by *AttemptRecord
	for i := range k.merged.questions {
		q := &k.merged.questions[i]
		if len(answers) == 0 {
			return
		}
		if answers[0].Name != q.Name {
			continue
		}
		a := &answers[0]
		answers = answers[1:]
		value := appendRemembered(q, a, now)
		if value == nil {
			continue
		}
		if rec := from(q.Name); rec != by {
			by, sheet = rec, m.context(k.call, rec.Endpoint, rec.Model, rec.Credential)
		}
		m.learned = append(m.learned, MemoryEntry{
			Key:     MemoryKey{Sheet: sheet, Question: m.digests.question(k.merged.questions, i)},
			Account: k.call.Principal.Account, User: k.call.Request.User, Session: k.call.Request.SessionID,
			Value: value, Expires: now.Add(m.ttl),
		})
	}
}

// remember keeps what the call has learned.
func (k *course) remember(ctx context.Context) {
	if len(k.memory.learned) > 0 {
		k.memory.put(ctx, k.memory.mark, k.memory.learned, k.router.cfg.Now())
	}
}
