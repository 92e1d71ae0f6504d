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
	// Model is the catalog id of the embedded model.
	Model = "signalbox/similarity-en-1"

	// Permaslug is the dated id of the embedded model. It changes whenever its answers
	// may change.
	Permaslug = Model + "-20261121"

	// UpstreamModel is the name of the model in requests to the provider and in its
	// replies.
	UpstreamModel = "similarity-en-1"
)

// Config configures a [Provider]. The zero value is the embedded model with the defaults
// below.
type Config struct {
	// Encoder replaces the embedded sentence encoder; nil keeps it.
	Encoder Encoder
	// Weights must be fitted to the encoder. The zero value is fitted to the embedded
	// one.
	Weights Weights
	// Workers is how many texts are processed at the same time, over all requests;
	// default runtime.GOMAXPROCS(0).
	Workers int
	// Queue is how many requests may wait besides Workers that run. Further requests are
	// refused as overloaded. Default 64; a negative number means none.
	Queue int
	// Limits bound the work of one request.
	Limits Limits
	// CachePhrases and CacheBytes bound the cache of encoded phrases, in entries and in
	// bytes; default 4,096 and 16 MiB. An entry takes about 3 KB. A negative number turns
	// the cache off. States are never cached.
	CachePhrases, CacheBytes int
}

// defaultPhraseBytes is the smallest default of [Limits.PhraseBytes].
const defaultPhraseBytes = 64 << 10

// Limits bound the work of one request. A zero field means its default. A request beyond
// a limit is refused before its texts are encoded. A state may also have at most 16 bytes
// for each of StateTokens.
type Limits struct {
	StateTokens int // tokens of the encoder in a state; default 2,048, about 1,500 words
	Questions   int // questions; default 64
	Phrases     int // phrases of all questions, after long ones are split; default 256
	// PhraseBytes is the maximum size of all phrases in bytes of UTF-8, including the
	// instructions of each noul that is answered from them. Default 65,536, or 256 for
	// each of Phrases if that is more.
	PhraseBytes int
}

// Provider is the embedded decision model. [New] makes one. It is safe for concurrent use
// and needs no closing, because no goroutine outlives a call.
type Provider struct {
	encoder Encoder
	words   *wordvec.Table
	weights Weights
	limits  Limits
	cache   *cache
	gate    *gate
	workers int
}

// New loads the model, which takes about 10 ms. An invalid configuration is reported as
// [router.ErrConfig].
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
			return fmt.Errorf("%w: similarity: %s is %d, must not be negative", router.ErrConfig, c.name, c.n)
		}
	}
	if !(cfg.Weights.Temperature > 0) {
		return fmt.Errorf("%w: similarity: Weights.Temperature is %v, must be positive", router.ErrConfig, cfg.Weights.Temperature)
	}
	if cfg.Encoder != nil && cfg.Encoder.Window() <= 0 {
		return fmt.Errorf("%w: similarity: Encoder.Window is %d, must be positive", router.ErrConfig, cfg.Encoder.Window())
	}
	return nil
}

// Endpoint returns a catalog entry for p under the given provider slug. It declares the
// limits that p enforces. The endpoint costs nothing, collects nothing and caches only
// vectors of phrases, never states.
//
// The endpoint is a last resort: the router prefers other endpoints of the same model.
// Its ID is empty, so that the catalog sets it and callers can derive further endpoints
// from it, with another variant or model.
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
		// The count of p is trusted, and includes the phrases as well as the state.
		Counting: router.Counting{InputTokens: math.MaxInt32, CompletionTokens: p.limits.Questions},
	}
}
