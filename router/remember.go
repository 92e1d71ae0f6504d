package router

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/systemone"
)

// remembering is a router's side of [Config.Remember].
type remembering struct {
	store Memory
	ttl   time.Duration

	// mu lets forget wait for answers that are being put, so that it deletes them, and
	// forgets keeps out the answers of calls that began before it.
	mu      sync.RWMutex
	forgets int64
}

// newRemembering returns nil where nothing is remembered.
func newRemembering(cfg *Remembering) (*remembering, error) {
	switch {
	case cfg == nil:
		return nil, nil //nolint:nilnil // nothing is remembered, and nothing is wrong
	case cfg.TTL < 0, cfg.Bytes < 0:
		return nil, fmt.Errorf("%w: Remember.TTL and Remember.Bytes must not be negative", ErrConfig)
	case typednil.Is(cfg.Store):
		return nil, fmt.Errorf("%w: Remember.Store holds a nil", ErrConfig)
	}
	m := &remembering{store: cfg.Store, ttl: cmp.Or(cfg.TTL, defaultRemembered)}
	if m.store == nil {
		m.store = newProcessMemory(cfg.Bytes)
	}
	return m, nil
}

// mark returns how often something was forgotten until now.
func (m *remembering) mark() int64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.forgets
}

// put keeps entries of a call that took its mark when it began. After a Forget in
// between it keeps nothing.
func (m *remembering) put(ctx context.Context, mark int64, entries []MemoryEntry, now time.Time) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.forgets == mark && len(entries) > 0 {
		m.store.Put(ctx, entries, now)
	}
}

// Forget deletes the remembered answers of an account. With a user or a session, as
// the caller stated it, it deletes only the answers that were given to calls with
// that user or session, and with both only those with both. Calls in flight when
// Forget returns do not add to what is remembered. Other processes with the same
// [Memory] may. It is safe for concurrent use, and does nothing without
// [Config.Remember].
func (r *Router) Forget(ctx context.Context, account, user, session string) error {
	m := r.remembering
	if m == nil {
		return nil
	}
	m.mu.Lock()
	m.forgets++
	m.mu.Unlock()
	return m.store.Forget(ctx, account, user, session)
}

// recalled is a remembered answer, when it was given, and the candidate that gave it.
// The zero value is a question of which no answer is remembered.
type recalled struct {
	by     *Candidate
	answer systemone.Answer
	at     time.Time
}

// recall returns what is remembered of questions, in their order, and how many there
// are. Of several answers it takes that of the first candidate. Contexts are those
// of the candidates, by [sheetDigests.context].
func (m *remembering) recall(ctx context.Context, qs []systemone.Question, d *sheetDigests, candidates []Candidate, contexts []digest, now time.Time) (found []recalled, n int) {
	keys := make([]MemoryKey, 0, len(qs)*len(candidates))
	for _, sheet := range contexts {
		for i := range qs {
			keys = append(keys, MemoryKey{Sheet: sheet, Question: d.question(qs, i)})
		}
	}
	values := m.store.Get(ctx, keys, now)
	if len(values) != len(keys) {
		return nil, 0
	}
	for at, value := range values {
		i, by := at%len(qs), &candidates[at/len(qs)]
		if value == nil || found != nil && found[i].by != nil {
			continue
		}
		answer, given, ok := readRemembered(&qs[i], value)
		if !ok || !now.Before(given.Add(m.ttl)) || check(&qs[i], &answer, by) != nil {
			continue
		}
		if found == nil {
			found = make([]recalled, len(qs))
		}
		found[i], n = recalled{by: by, answer: answer, at: given}, n+1
	}
	return found, n
}

// check checks one answer of an endpoint again: a store may have changed it.
func check(q *systemone.Question, a *systemone.Answer, by *Candidate) error {
	asked := systemone.Request{Questions: []systemone.Question{*q}}
	return systemone.Check(&asked, systemone.Answers{*a}, by.Endpoint.Tolerance)
}

// entries returns the answers of one endpoint for a [Memory].
func (m *remembering) entries(c *Call, qs []systemone.Question, answers systemone.Answers, d *sheetDigests, sheet digest, at time.Time) []MemoryEntry {
	entries := make([]MemoryEntry, 0, len(qs))
	for i := range min(len(qs), len(answers)) {
		value := appendRemembered(&qs[i], &answers[i], at)
		if value == nil {
			continue
		}
		entries = append(entries, MemoryEntry{
			Key:     MemoryKey{Sheet: sheet, Question: d.question(qs, i)},
			Account: c.Principal.Account, User: c.Request.User, Session: c.Request.SessionID,
			Value: value, Expires: at.Add(m.ttl),
		})
	}
	return entries
}

// rememberedVersion begins the value of a remembered answer. A value of another
// version counts as absent.
const rememberedVersion = 1

// appendRemembered writes the answer to q, given at an instant, as a value of a
// [Memory]. It returns nil for an answer that cannot be remembered: a refusal, or
// one that is not among q's options. Labels are left out: they are q's.
func appendRemembered(q *systemone.Question, a *systemone.Answer, at time.Time) []byte {
	choice := 0
	if a.Kind == systemone.Choice {
		for choice < len(q.Options) && q.Options[choice].Name != a.Choice {
			choice++
		}
		if choice == len(q.Options) {
			return nil
		}
	}
	b := make([]byte, 0, 2+4*8+2*binary.MaxVarintLen16+8*len(a.Probabilities))
	b = append(b, rememberedVersion, a.Kind[0])
	b = binary.BigEndian.AppendUint64(b, uint64(at.UnixMicro())) //nolint:gosec // read back as it was
	b = appendFloat(appendFloat(appendFloat(b, a.Noul), a.Score), a.Confidence)
	b = binary.AppendUvarint(b, uint64(choice)) //nolint:gosec // an index
	b = binary.AppendUvarint(b, uint64(len(a.Probabilities)))
	for _, p := range a.Probabilities {
		b = appendFloat(b, p.P)
	}
	return b
}

// readRemembered is the reverse of appendRemembered. It returns false for a value that
// is no answer to q; the caller checks the answer itself.
func readRemembered(q *systemone.Question, b []byte) (a systemone.Answer, at time.Time, ok bool) {
	if len(b) < 2+4*8 || b[0] != rememberedVersion || q.Kind == "" || b[1] != q.Kind[0] {
		return a, at, false
	}
	at, b = time.UnixMicro(int64(binary.BigEndian.Uint64(b[2:]))), b[10:] //nolint:gosec // as it was written
	a = systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: floatAt(b, 0), Score: floatAt(b, 1), Confidence: floatAt(b, 2)}
	choice, b := uvarint(b[3*8:])
	n, b := uvarint(b)
	labels := len(q.Options) + len(q.Levels)
	if n != 0 && n != labels || len(b) != 8*n {
		return a, at, false
	}
	if q.Kind == systemone.Choice {
		if choice >= len(q.Options) {
			return a, at, false
		}
		a.Choice = q.Options[choice].Name
	}
	if q.Kind == systemone.Score {
		a.Legend = q.Levels
	}
	if n == 0 {
		return a, at, true
	}
	a.Probabilities = make([]systemone.Probability, n)
	for i := range n {
		a.Probabilities[i].P = floatAt(b, i)
		if q.Kind == systemone.Choice {
			a.Probabilities[i].Label = q.Options[i].Name
		} else {
			a.Probabilities[i].Label = strconv.Itoa(i)
		}
	}
	return a, at, true
}

func appendFloat(b []byte, x float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(x))
}

// floatAt returns the i-th number of b, which must have it.
func floatAt(b []byte, i int) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b[8*i:])) }

// uvarint reads a small number and returns what follows. Anything else reads as the
// largest number.
func uvarint(b []byte) (int, []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > math.MaxInt32 {
		return math.MaxInt32, nil
	}
	return int(n), b[size:] //nolint:gosec // within an int32
}
