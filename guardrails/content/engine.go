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

// Config sets up an [Engine]. The zero value is the default.
type Config struct {
	// Recognizer finds persons' names and addresses. Nil is [Heuristic].
	Recognizer EntityRecognizer
	// RecognizerTimeout bounds what Recognizer may take for a whole request. 0
	// is 250 ms.
	RecognizerTimeout time.Duration
	// FailClosed refuses a request that Recognizer failed on, or had no time
	// for. Otherwise such a request goes on without that filter, and a stage of
	// the pipeline says so.
	FailClosed bool
}

// Engine makes scanners and bounds how many of their expensive scans run at the same
// time: one for each processor but one, at least one. A program needs one engine. It is
// safe for concurrent use.
type Engine struct {
	cfg       Config
	injection *injectionDetector
	gate      *gate
}

// New checks cfg and fills in its defaults. A mistake is [ErrConfig].
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
