package similarity

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// wide is an encoder with a window of any size.
type wide struct {
	blind
	window int
}

func (w wide) Window() int { return w.window }

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"workers":       {Workers: -1},
		"state":         {Limits: Limits{StateTokens: -1}},
		"questions":     {Limits: Limits{Questions: -1}},
		"phrases":       {Limits: Limits{Phrases: -1}},
		"phrase bytes":  {Limits: Limits{PhraseBytes: -1}},
		"no window":     {Encoder: wide{window: 0}},
		"a temperature": {Weights: Weights{EncoderBest: 1}},
	} {
		_, err := New(cfg)
		require.ErrorIs(t, err, router.ErrConfig, name)
	}
}

func TestEndpointFitsACatalog(t *testing.T) {
	p := newProvider(t, Config{Limits: Limits{Questions: 7}})
	e := p.Endpoint("local")
	assert.Equal(t, 2048, e.ContextLength)
	assert.Equal(t, 7, e.Limits.Questions)
	second := e
	second.Variant = "second"
	catalog := func() *router.Catalog {
		c, err := router.NewCatalog(
			[]router.Model{{ID: Model, Permaslug: Permaslug}},
			[]router.ProviderInfo{{Slug: "local", Client: p}},
			[]router.Endpoint{e, second},
		)
		require.NoError(t, err)
		return c
	}
	once, again := catalog().Endpoints(), catalog().Endpoints()
	assert.NotEqual(t, once[0].ID, once[1].ID)
	assert.Equal(t, once[0].ID, again[0].ID, "the id is fixed")
}

// TestCacheLaw compares the cache with a model: a list ordered by use.
func TestCacheLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.IntRange(0, 5).Draw(t, "entries")
		bytes := rapid.IntRange(0, 3000).Draw(t, "bytes")
		c := newCache(entries, bytes)
		type kept struct {
			phrase string
			sense  *sense
		}
		var model []kept // most recently used last
		find := func(phrase string) (at int) {
			for i, k := range model {
				if k.phrase == phrase {
					return i
				}
			}
			return -1
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			phrase := fmt.Sprint("phrase ", rapid.IntRange(0, 8).Draw(t, "phrase"))
			at := find(phrase)
			if rapid.Bool().Draw(t, "get") {
				got := c.get(phrase)
				if at < 0 {
					require.Nil(t, got)
					continue
				}
				require.Same(t, model[at].sense, got)
				model = append(append(model[:at:at], model[at+1:]...), model[at])
				continue
			}
			s := &sense{sentence: make([]float32, rapid.IntRange(0, 300).Draw(t, "size"))}
			c.put(phrase, s)
			if len(phrase)+s.size() > bytes {
				continue
			}
			if at >= 0 {
				model = append(model[:at:at], model[at+1:]...)
			}
			model = append(model, kept{phrase, s})
			size := func() (sum int) {
				for _, k := range model {
					sum += len(k.phrase) + k.sense.size()
				}
				return sum
			}
			for len(model) > entries || size() > bytes {
				model = model[1:]
			}
			require.Equal(t, size(), c.bytes)
		}
		require.Len(t, c.entries, len(model))
	})
}
