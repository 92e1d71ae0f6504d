package similarity

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// counting is an encoder that records its calls. A token is a byte, so that every text
// has to be split.
type counting struct {
	counted, encoded, bytes, longest atomic.Int64
	each                             func() // called for every text
}

func (c *counting) take(calls *atomic.Int64, text string) {
	calls.Add(1)
	c.bytes.Add(int64(len(text)))
	c.longest.Store(max(c.longest.Load(), int64(len(text)))) // exact with one worker
	if c.each != nil {
		c.each()
	}
}

func (c *counting) Encode(ctx context.Context, text string) ([]float32, error) {
	c.take(&c.encoded, text)
	return []float32{1, 0}, ctx.Err()
}

func (c *counting) Count(text string) int {
	c.take(&c.counted, text)
	return len(text)
}

func (*counting) Window() int { return 128 }

const ligature = "\ufdfa" // one character, 18 of them after normalisation

// TestHugeTextsAreRefusedUnread holds that no text beyond the byte limits is tokenised,
// in any part of the request.
func TestHugeTextsAreRefusedUnread(t *testing.T) {
	const huge = 1_400_000
	option := func(guidance json.RawMessage) systemone.Question {
		return systemone.Question{Name: "q", Kind: systemone.Choice, Options: []systemone.Option{{Name: "a", Guidance: guidance}}}
	}
	many, err := json.Marshal(strings.Split(strings.Repeat("a rather long phrase,", 4000), ","))
	require.NoError(t, err)
	half := option(quoted(strings.Repeat("a ", 20_000)))
	for name, a := range map[string]router.Attempt{
		"a state":          attempt(string(quoted(strings.Repeat(ligature, huge))), option(nil)),
		"guidance":         attempt(`"x"`, option(quoted(strings.Repeat(ligature, huge/3)))),
		"one-letter words": attempt(`"x"`, option(quoted(strings.Repeat("a ", huge/2)))),
		"many phrases":     attempt(`"x"`, option(many)),
		"questions in all": attempt(`"x"`, half, half),
		"the name of an option": attempt(`"x"`, systemone.Question{
			Kind: systemone.Choice, Options: []systemone.Option{{Name: strings.Repeat("a", huge)}},
		}),
		"a level":   attempt(`"x"`, systemone.Question{Kind: systemone.Score, Levels: []json.RawMessage{quoted(strings.Repeat("a.", huge))}}),
		"a yes":     attempt(`"x"`, systemone.Question{Kind: systemone.Noul, True: quoted(strings.Repeat("a b. ", huge))}),
		"its topic": attempt(`"x"`, systemone.Question{Kind: systemone.Noul, Instructions: quoted("is it about " + strings.Repeat("a b ", huge))}),
	} {
		t.Run(name, func(t *testing.T) {
			e := new(counting)
			_, err := newProvider(t, Config{Encoder: e, Workers: 1}).Decide(t.Context(), a)
			require.Equal(t, router.PayloadTooLarge, class(t, err))
			assert.Zero(t, e.bytes.Load(), "nothing is tokenised, not even what is within the limits")
			assert.Less(t, len(err.Error()), 200, "the error does not repeat the text")
		})
	}
}

// TestSplittingIsLinear holds that splitting counts each byte a bounded number of times,
// counts no large pieces, and stops at the limits.
func TestSplittingIsLinear(t *testing.T) {
	option := func(text string) systemone.Question {
		return systemone.Question{Name: "q", Kind: systemone.Choice, Options: []systemone.Option{{Name: "a", Guidance: quoted(text)}}}
	}
	const size = 48_000
	for name, text := range map[string]string{
		"no words":         strings.Repeat("a", size),
		"one-letter words": strings.Repeat("a ", size/2),
		"sentences":        strings.Repeat("a. ", size/3),
		"ligatures":        strings.Repeat(ligature, size/3),
	} {
		t.Run(name, func(t *testing.T) {
			e := new(counting)
			p := newProvider(t, Config{Encoder: e, Workers: 1, Limits: Limits{StateTokens: size, Phrases: 2000}})
			for _, a := range []router.Attempt{attempt(`"x"`, option(text)), attempt(string(quoted(text)), option("x"))} {
				e.bytes.Store(0)
				_, err := p.Decide(t.Context(), a)
				require.NoError(t, err)
				assert.Less(t, e.bytes.Load(), int64(12*size))
				assert.LessOrEqual(t, e.longest.Load(), int64(bytesPerToken*e.Window()))
			}
		})
		t.Run(name+", beyond the phrases", func(t *testing.T) {
			e := new(counting)
			_, err := newProvider(t, Config{Encoder: e, Workers: 1, Limits: Limits{Phrases: 4}}).Decide(t.Context(), attempt(`"x"`, option(text)))
			require.Equal(t, router.PayloadTooLarge, class(t, err))
			assert.Less(t, e.bytes.Load(), int64(20*bytesPerToken*e.Window()), "it stops at the fifth phrase")
		})
	}
}

// TestHangUpWhileReading holds that reading stops when the context of the request ends.
func TestHangUpWhileReading(t *testing.T) {
	long := quoted(strings.Repeat("a ", 5000))
	q := systemone.Question{Name: "q", Kind: systemone.Choice, Options: []systemone.Option{{Name: "a", Guidance: long}, {Name: "b", Guidance: long}}}
	for name, a := range map[string]router.Attempt{
		"phrases": attempt(`"x"`, q, q),
		"state":   attempt(string(long), threeOf("a", "b", "c")),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			e := &counting{each: cancel}
			_, err := newProvider(t, Config{Encoder: e, Limits: Limits{StateTokens: 50_000}}).Decide(ctx, a)
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, router.Timeout, class(t, err))
			assert.EqualValues(t, 1, e.counted.Load(), "no other text is begun")
			assert.Zero(t, e.encoded.Load())
		})
	}
}

// TestLimitsDoNotOverflow holds that math.MaxInt works as "no limit".
func TestLimitsDoNotOverflow(t *testing.T) {
	all := Limits{StateTokens: math.MaxInt, Questions: math.MaxInt, Phrases: math.MaxInt}
	for name, encoder := range map[string]Encoder{"embedded": nil, "any window": wide{window: math.MaxInt}} {
		p := newProvider(t, Config{Encoder: encoder, Limits: all})
		_, err := p.Decide(t.Context(), attempt(`"my parcel is late"`, threeOf("a late parcel", "a refund", "hello")))
		require.NoError(t, err, name)
	}
}

func TestPhraseBytes(t *testing.T) {
	q := threeOf("four", "bytes", "  each ")
	for most, want := range map[int]router.Class{13: "", 12: router.PayloadTooLarge} {
		p := newProvider(t, Config{Encoder: spelling{}, Limits: Limits{PhraseBytes: most}})
		_, err := p.Decide(t.Context(), attempt(`"x"`, q))
		assert.Equal(t, want, class(t, err), "%d bytes", most)
	}
	assert.Equal(t, defaultPhraseBytes, newProvider(t, Config{Encoder: blind{}}).limits.PhraseBytes)
	assert.Equal(t, 256*1000, newProvider(t, Config{Encoder: blind{}, Limits: Limits{Phrases: 1000}}).limits.PhraseBytes)
}

func TestEncoderThatPanicsFailsTheAttempt(t *testing.T) {
	p := newProvider(t, Config{Workers: 2, Queue: 1, Encoder: scripted(func(context.Context, string) ([]float32, error) { panic("encoder") })})
	q := systemone.Question{Kind: systemone.Choice, Options: []systemone.Option{{Name: "a"}}}
	for range 10 { // more than workers and queue together
		_, err := p.Decide(t.Context(), attempt(`"x"`, q))
		require.Equal(t, router.ProviderUnavailable, class(t, err))
		require.ErrorContains(t, err, "panic: encoder")
	}
}
