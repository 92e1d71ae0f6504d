package router

import (
	"cmp"
	"context"
	"crypto/sha256"
	"hash/maphash"
	"sync"
	"time"
)

// Remembering sets up [Config.Remember]. The zero value remembers answers in this
// process for five minutes.
type Remembering struct {
	// TTL is how long an answer is used, from when it was given. Default 5 min.
	TTL time.Duration
	// Bytes is about how much memory the answers take; the least recently used ones
	// are dropped. Default 64 MiB. A Store has its own bounds.
	Bytes int
	// Store keeps the answers. Default: this process.
	Store Memory
}

const (
	defaultRemembered  = 5 * time.Minute
	defaultMemoryBytes = 64 << 20
	memoryOverhead     = 256 // bytes that an entry takes beside its value: struct, key and map
)

// MemoryKey identifies what was asked: both digests contain no readable text of the
// request.
type MemoryKey struct {
	// Sheet is the digest of the account, the upstream credential, the endpoint, its
	// dated model, the state and what else goes upstream.
	Sheet [sha256.Size]byte
	// Question is the digest of the question's kind, instructions and criteria in
	// their order, without its name.
	Question [sha256.Size]byte
}

// MemoryEntry is a remembered answer.
type MemoryEntry struct {
	Key MemoryKey
	// Account, User and Session are those of the call that was answered, as it
	// stated them, so that a Memory can forget by them. User and Session may be "".
	Account, User, Session string
	Value                  []byte // not to be interpreted or changed
	Expires                time.Time
}

// Memory keeps answers for [Config.Remember]. Implementations must be safe for
// concurrent use and fast, because requests wait for them. They may forget at any
// time. One that cannot be reached returns no values: a remembered answer is a
// saving, never a reason to fail.
type Memory interface {
	// Get returns what is kept for each key, in the order of the keys; nil where
	// nothing is kept that expires after now.
	Get(ctx context.Context, keys []MemoryKey, now time.Time) [][]byte
	// Put keeps entries, each in place of one of the same key.
	Put(ctx context.Context, entries []MemoryEntry, now time.Time)
	// Forget deletes the entries of an account. With a user or a session it deletes
	// only those of that user or session, and with both those of both. After nil, no
	// Get returns what was put before.
	Forget(ctx context.Context, account, user, session string) error
}

// processMemory is the default [Memory]. It has a bound in bytes and drops the least
// recently used entries. It holds no readable text of a request.
//
// Put drops expired entries from the end of the list. An expired entry is not used
// any more, so it is at the end after at most another TTL.
type processMemory struct {
	most int // bytes
	seed maphash.Seed

	mu      sync.Mutex
	entries map[MemoryKey]*memorized
	list    memorized // of all entries: its next is the one used last, its prev the least recent
	bytes   int
}

// memorized is one entry, in a ring with its memory's list.
type memorized struct {
	next, prev             *memorized
	key                    MemoryKey
	account, user, session uint64 // hashes; a collision forgets too much, which is harmless
	value                  []byte
	expires                time.Time
}

func newProcessMemory(most int) *processMemory {
	m := &processMemory{most: cmp.Or(most, defaultMemoryBytes), seed: maphash.MakeSeed(), entries: map[MemoryKey]*memorized{}}
	m.list.next, m.list.prev = &m.list, &m.list
	return m
}

func (m *processMemory) Get(_ context.Context, keys []MemoryKey, now time.Time) [][]byte {
	values := make([][]byte, len(keys))
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range keys {
		e := m.entries[keys[i]]
		if e == nil || !now.Before(e.expires) {
			continue
		}
		values[i] = e.value
		e.unlink()
		e.linkBehind(&m.list)
	}
	return values
}

func (m *processMemory) Put(_ context.Context, entries []MemoryEntry, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for last := m.list.prev; last != &m.list && !now.Before(last.expires); last = m.list.prev {
		m.drop(last)
	}
	for i := range entries {
		m.put(&entries[i])
	}
}

func (m *processMemory) put(e *MemoryEntry) {
	if old := m.entries[e.Key]; old != nil {
		m.drop(old)
	}
	kept := &memorized{
		key: e.Key, value: e.Value, expires: e.Expires,
		account: maphash.String(m.seed, e.Account),
		user:    maphash.String(m.seed, e.User),
		session: maphash.String(m.seed, e.Session),
	}
	m.entries[e.Key] = kept
	kept.linkBehind(&m.list)
	m.bytes += kept.size()
	for m.bytes > m.most {
		m.drop(m.list.prev)
	}
}

// drop removes an entry. The caller holds mu.
func (m *processMemory) drop(e *memorized) {
	delete(m.entries, e.key)
	e.unlink()
	m.bytes -= e.size()
}

// Forget looks at all entries, while other callers wait: about 20 ms for 64 MiB.
func (m *processMemory) Forget(_ context.Context, account, user, session string) error {
	ofAccount, ofUser, ofSession := maphash.String(m.seed, account), maphash.String(m.seed, user), maphash.String(m.seed, session)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.account == ofAccount && (user == "" || e.user == ofUser) && (session == "" || e.session == ofSession) {
			m.drop(e)
		}
	}
	return nil
}

func (e *memorized) size() int { return memoryOverhead + len(e.value) }

func (e *memorized) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

func (e *memorized) linkBehind(at *memorized) {
	e.prev, e.next = at, at.next
	at.next.prev, at.next = e, e
}
