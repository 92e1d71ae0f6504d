package router_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func memoryKey(n int) (k router.MemoryKey) {
	k.Question[0], k.Question[1] = byte(n), byte(n>>8)
	return k
}

func entry(n int, whose ...string) router.MemoryEntry {
	whose = append(whose, "", "", "")
	return router.MemoryEntry{
		Key: memoryKey(n), Account: whose[0], User: whose[1], Session: whose[2],
		Value: []byte(strconv.Itoa(n)), Expires: noon.Add(time.Minute),
	}
}

// kept returns which of n keys a memory has at an instant.
func kept(m router.Memory, n int, at time.Time) (found []int) {
	keys := make([]router.MemoryKey, n)
	for i := range keys {
		keys[i] = memoryKey(i)
	}
	for i, value := range m.Get(context.Background(), keys, at) {
		if string(value) == strconv.Itoa(i) {
			found = append(found, i)
		}
	}
	return found
}

// TestTheLeastRecentlyUsedAnswersAreDropped fills a memory of three entries.
func TestTheLeastRecentlyUsedAnswersAreDropped(t *testing.T) {
	t.Parallel()
	m := router.NewProcessMemory(3 * (router.MemoryOverhead + 1))
	m.Put(t.Context(), []router.MemoryEntry{entry(0), entry(1), entry(2)}, noon)
	assert.Equal(t, []int{0}, kept(m, 1, noon), "0 is used")
	m.Put(t.Context(), []router.MemoryEntry{entry(3)}, noon)
	assert.Equal(t, []int{0, 2, 3}, kept(m, 4, noon), "1 was used the least recently")
	m.Put(t.Context(), []router.MemoryEntry{entry(2), entry(4)}, noon)
	assert.Equal(t, []int{2, 3, 4}, kept(m, 5, noon), "the new 2 takes the place of the old one")
	big := entry(5)
	big.Value = make([]byte, 10_000)
	m.Put(t.Context(), []router.MemoryEntry{big}, noon)
	entries, bytes := router.Held(m)
	assert.Zero(t, entries, "one that is larger than the memory is not kept")
	assert.Zero(t, bytes)
}

// TestAnAnswerIsNotUsedAfterItsTime: nor is it kept for long.
func TestAnAnswerIsNotUsedAfterItsTime(t *testing.T) {
	t.Parallel()
	m := router.NewProcessMemory(0)
	m.Put(t.Context(), []router.MemoryEntry{entry(0), entry(1)}, noon)
	assert.Equal(t, []int{0, 1}, kept(m, 2, noon.Add(time.Minute-1)))
	assert.Empty(t, kept(m, 2, noon.Add(time.Minute)))
	later := entry(2)
	later.Expires = noon.Add(time.Hour)
	m.Put(t.Context(), []router.MemoryEntry{later}, noon.Add(time.Minute))
	entries, _ := router.Held(m)
	assert.Equal(t, 1, entries, "what has expired is dropped by the next Put")
}

// TestForget deletes by account, user and session.
func TestForget(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		account, user, session string
		left                   []int
	}{
		"account":          {"a", "", "", []int{4}},
		"user":             {"a", "ann", "", []int{0, 3, 4}},
		"session":          {"a", "", "s1", []int{0, 1, 4}},
		"user and session": {"a", "ann", "s1", []int{0, 1, 3, 4}},
		"another account":  {"c", "", "", []int{0, 1, 2, 3, 4}},
		"no account":       {"", "", "", []int{0, 1, 2, 3, 4}},
	} {
		m := router.NewProcessMemory(0)
		m.Put(t.Context(), []router.MemoryEntry{
			entry(0, "a"), entry(1, "a", "ann"), entry(2, "a", "ann", "s1"), entry(3, "a", "bob", "s1"), entry(4, "b", "ann", "s1"),
		}, noon)
		require.NoError(t, m.Forget(t.Context(), tt.account, tt.user, tt.session), name)
		assert.Equal(t, tt.left, kept(m, 5, noon), name)
	}
}

// TestMemoryIsAModelOfAMap compares random histories with a map that has no bound, and
// requires that the bound in bytes is kept.
func TestMemoryIsAModelOfAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		const keys, most = 12, 6*router.MemoryOverhead + 600
		m := router.NewProcessMemory(most)
		want := map[router.MemoryKey]router.MemoryEntry{}
		now := noon
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(r, "seconds")) * time.Second)
			switch rapid.IntRange(0, 4).Draw(r, "step") {
			case 0:
				whose := rapid.SampledFrom([]string{"a", "b"})
				account, user := whose.Draw(r, "account"), rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "user")
				_ = m.Forget(context.Background(), account, user, "")
				maps.DeleteFunc(want, func(_ router.MemoryKey, e router.MemoryEntry) bool {
					return e.Account == account && (user == "" || e.User == user)
				})
			case 1, 2:
				e := entry(rapid.IntRange(0, keys-1).Draw(r, "key"), rapid.SampledFrom([]string{"a", "b"}).Draw(r, "of"), rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "by"))
				e.Value = make([]byte, rapid.IntRange(0, 900).Draw(r, "size"))
				e.Value = append(e.Value, byte(len(want)))
				e.Expires = now.Add(time.Minute)
				m.Put(context.Background(), []router.MemoryEntry{e}, now)
				want[e.Key] = e
			default:
				n := rapid.IntRange(0, keys-1).Draw(r, "get")
				got := m.Get(context.Background(), []router.MemoryKey{memoryKey(n)}, now)[0]
				e, ok := want[memoryKey(n)]
				if got != nil && (!ok || !now.Before(e.Expires) || !slices.Equal(got, e.Value)) {
					r.Errorf("key %d has a value that was forgotten, replaced or has expired", n)
				}
			}
			entries, bytes := router.Held(m)
			if bytes > most || bytes < entries*router.MemoryOverhead || (entries == 0) != (bytes == 0) {
				r.Errorf("%d entries take %d bytes", entries, bytes)
			}
		}
	})
}

// remembered returns an answer as it is after it was kept.
func remembered(t require.TestingT, q systemone.Question, a systemone.Answer) systemone.Answer {
	got, at, ok := router.ReadRemembered(&q, router.AppendRemembered(&q, &a, noon))
	require.True(t, ok)
	require.True(t, noon.Equal(at))
	return got
}

// TestARememberedAnswerIsTheAnswer has every kind, with a distribution and without.
func TestARememberedAnswerIsTheAnswer(t *testing.T) {
	t.Parallel()
	request := decision("")
	got, err := systemone.Repair(request, answers(), systemone.Tolerance{})
	require.NoError(t, err)
	for i, q := range request.Questions {
		assert.Equal(t, got[i], remembered(t, q, got[i]), q.Name)
		renamed := q
		renamed.Name = "another name"
		assert.Equal(t, "another name", remembered(t, renamed, got[i]).Name)
		bare := got[i]
		bare.Probabilities, bare.Confidence = nil, 0
		assert.Equal(t, bare, remembered(t, q, bare), q.Name)
	}
	stranger := got[1]
	stranger.Choice = "nobody"
	assert.Nil(t, router.AppendRemembered(&request.Questions[1], &stranger, noon), "a choice that is no option")
}

// FuzzRemembered: no value of a store panics, and none becomes an answer of another
// shape than its question's.
func FuzzRemembered(f *testing.F) {
	request := decision("")
	valid, err := systemone.Repair(request, answers(), systemone.Tolerance{})
	require.NoError(f, err)
	for i := range request.Questions {
		f.Add(router.AppendRemembered(&request.Questions[i], &valid[i], noon))
	}
	f.Add([]byte{1, 'c'})
	f.Fuzz(func(t *testing.T, value []byte) {
		for i := range request.Questions {
			q := &request.Questions[i]
			a, _, ok := router.ReadRemembered(q, value)
			if !ok {
				continue
			}
			require.Equal(t, q.Name, a.Name)
			require.Equal(t, q.Kind, a.Kind)
			require.Contains(t, []int{0, len(q.Options) + len(q.Levels)}, len(a.Probabilities))
			_, err := json.Marshal(systemone.Check(&systemone.Request{Questions: request.Questions[i : i+1]}, systemone.Answers{a}, systemone.Tolerance{}))
			require.NoError(t, err)
		}
	})
}

// BenchmarkMemory gets the answers to ten questions.
func BenchmarkMemory(b *testing.B) {
	m := router.NewProcessMemory(0)
	keys := make([]router.MemoryKey, 10)
	for i := range 10_000 {
		m.Put(b.Context(), []router.MemoryEntry{entry(i)}, noon)
	}
	for i := range keys {
		keys[i] = memoryKey(i * 100)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			m.Get(context.Background(), keys, noon)
		}
	})
}
