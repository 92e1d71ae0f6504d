package content

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/signalbox/signalbox/internal/typednil"
)

// ErrConfig is the error of a [Config], or of filters, that cannot be used.
var ErrConfig = errors.New("content: invalid configuration")

// Config configures an [Engine]. The zero value uses the defaults below.
type Config struct {
	// Recognizer finds names of persons and postal addresses. Nil means [Heuristic].
	Recognizer EntityRecognizer
	// RecognizerTimeout bounds the total time of the Recognizer for one request. 0 means
	// 250 ms.
	RecognizerTimeout time.Duration
	// FailClosed refuses a request if Recognizer fails or exceeds its time. Otherwise the
	// request continues without those filters, and a stage in the report says so.
	FailClosed bool
}

// Engine makes scanners and bounds how many of their long scans run at the same time: one
// less than the processors that New finds (runtime.GOMAXPROCS), and at least one. A
// program needs one engine. [New] makes one. It is safe for concurrent use.
type Engine struct {
	cfg       Config
	injection *injectionDetector
	gate      *gate
}

// New checks cfg and fills in its defaults. A mistake in cfg is reported as [ErrConfig].
func New(cfg Config) (*Engine, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.RecognizerTimeout < 0 {
		return nil, fmt.Errorf("%w: RecognizerTimeout must not be negative", ErrConfig)
	}
	if cfg.Recognizer == nil {
		cfg.Recognizer = Heuristic{}
	}
	if cfg.RecognizerTimeout == 0 {
		cfg.RecognizerTimeout = 250 * time.Millisecond
	}
	injection, err := newInjectionDetector()
	if err != nil {
		return nil, err
	}
	return &Engine{cfg: cfg, injection: injection, gate: newGate(runtime.GOMAXPROCS(0) - 1)}, nil
}
