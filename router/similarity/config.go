package similarity

import (
	"fmt"
	"math"
	"runtime"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/internal/wordvec"
	"github.com/signalbox/signalbox/router"
)

const (
	// Model is the id of the embedded model in a catalog.
	Model = "signalbox/similarity-en-1"

	// Permaslug is its dated id: it changes whenever its answers may.
	Permaslug = Model + "-20261121"

	// UpstreamModel is the name under which the provider knows it.
	UpstreamModel = "similarity-en-1"
)

// Config configures a [Provider]. The zero value is the embedded model with
// the defaults below.
type Config struct {
	// Encoder replaces the embedded sentence encoder.
	Encoder Encoder
	// Weights belong to the encoder; the zero value is fitted to the embedded one.
	Weights Weights
	// Workers is how many texts are worked on at once, over all requests;
	// default runtime.GOMAXPROCS(0).
	Workers int
	// Queue is how many requests may wait beyond Workers; the next one is
	// refused as overloaded. Default 64; less than 0 is none.
	Queue int
	// Limits bound one request.
	Limits Limits
	// CachePhrases and CacheBytes bound the vectors of phrases that are kept,
	// about 3 KB each; default 4,096 and 16 MiB. Less than 0 keeps none. States
	// are never kept.
	CachePhrases, CacheBytes int
}

// defaultPhraseBytes is the least default of [Limits.PhraseBytes].
const defaultPhraseBytes = 64 << 10

// Limits bound the work of one request. A zero field is its default. What is
// beyond them is refused before it is worked on. A state may also have no more
// than 16 bytes for each of StateTokens.
type Limits struct {
	StateTokens int // of the encoder; default 2,048, about 1,500 words
	Questions   int // default 64
	Phrases     int // over all questions, after long ones are split; default 256
	// PhraseBytes is how many bytes of UTF-8 all phrases may have, and the
	// instructions of each noul that is answered from them. Default 65,536, or
	// 256 for each of Phrases if that is more.
	PhraseBytes int
}

// Provider is the embedded decision model. It is safe for concurrent use and
// has nothing to close: no goroutine of its own outlives a call.
type Provider struct {
	encoder Encoder
	words   *wordvec.Table
	weights Weights
	limits  Limits
	cache   *cache
	gate    *gate
	workers int
}

// New loads the model, which takes some 10 ms. It fails on a configuration
// that makes no sense, with an error that is [router.ErrConfig].
func New(cfg Config) (*Provider, error) {
	orDefault(&cfg.Workers, runtime.GOMAXPROCS(0))
	orDefault(&cfg.Queue, 64)
	orDefault(&cfg.Limits.StateTokens, 2048)
	orDefault(&cfg.Limits.Questions, 64)
	orDefault(&cfg.Limits.Phrases, 256)
	orDefault(&cfg.Limits.PhraseBytes, max(defaultPhraseBytes, product(max(cfg.Limits.Phrases, 0), 256)))
	orDefault(&cfg.CachePhrases, 4096)
	orDefault(&cfg.CacheBytes, 16<<20)
	if cfg.Weights == (Weights{}) {
		cfg.Weights = fitted()
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Encoder == nil {
		var err error
		if cfg.Encoder, err = embeddedEncoder(); err != nil {
			return nil, err
		}
	}
	words, err := embeddedWords()
	if err != nil {
		return nil, err
	}
	return &Provider{
		encoder: cfg.Encoder, words: words, weights: cfg.Weights, limits: cfg.Limits,
		cache: newCache(max(cfg.CachePhrases, 0), max(cfg.CacheBytes, 0)),
		gate:  newGate(cfg.Workers, max(cfg.Queue, 0)), workers: cfg.Workers,
	}, nil
}

func orDefault(n *int, standard int) {
	if *n == 0 {
		*n = standard
	}
}

func (cfg *Config) check() error {
	if typednil.Is(cfg.Encoder) {
		return fmt.Errorf("%w: similarity: Encoder holds a nil", router.ErrConfig)
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"Workers", cfg.Workers},
		{"Limits.StateTokens", cfg.Limits.StateTokens},
		{"Limits.Questions", cfg.Limits.Questions},
		{"Limits.Phrases", cfg.Limits.Phrases},
		{"Limits.PhraseBytes", cfg.Limits.PhraseBytes},
	} {
		if c.n < 0 {
			return fmt.Errorf("%w: similarity: %s is %d", router.ErrConfig, c.name, c.n)
		}
	}
	if !(cfg.Weights.Temperature > 0) {
		return fmt.Errorf("%w: similarity: Weights.Temperature is %v", router.ErrConfig, cfg.Weights.Temperature)
	}
	if cfg.Encoder != nil && cfg.Encoder.Window() <= 0 {
		return fmt.Errorf("%w: similarity: the encoder's window is %d", router.ErrConfig, cfg.Encoder.Window())
	}
	return nil
}

// Endpoint describes p for a catalog in which its provider has the slug. It
// declares what p enforces anyway. It costs nothing, collects nothing and
// keeps nothing but the vectors of phrases, never of states. It is a last resort:
// where another endpoint serves the same model, that is asked first. Its ID is left to
// the catalog, so that further endpoints can be made of it, under another
// variant or model.
func (p *Provider) Endpoint(slug string) router.Endpoint {
	return router.Endpoint{
		Provider:      slug,
		Model:         Model,
		UpstreamModel: UpstreamModel,
		Quantization:  "int8",
		ContextLength: p.limits.StateTokens,
		ZDR:           true,
		LastResort:    true,
		Limits: router.EndpointLimits{
			Questions: p.limits.Questions, Options: p.limits.Phrases, Levels: p.limits.Phrases,
		},
		// What p counts is believed, and the phrases count as well as the state.
		Counting: router.Counting{InputTokens: math.MaxInt32, CompletionTokens: p.limits.Questions},
	}
}
