package similarity

import (
	"context"
	_ "embed" // for the two files of the model
	"fmt"

	"github.com/signalbox/signalbox/internal/uselite"
	"github.com/signalbox/signalbox/internal/wordvec"
)

//go:embed assets/use-lite-int8.bin
var encoderFile []byte

//go:embed assets/words-20000-int8.bin
var wordsFile []byte

// Encoder encodes texts as vectors whose dot product measures how similar their meanings
// are. Implementations must be safe for concurrent use.
//
// To replace the embedded encoder, set [Config.Encoder] and [Config.Weights], which must
// be fitted to the encoder. No text passed to an Encoder has more than 16 bytes for each
// token of Window.
type Encoder interface {
	// Encode returns a vector of length 1, always of the same dimension, or nil for a
	// text without meaning to the encoder. Text beyond Window is cut. Encode must honour
	// ctx.
	Encode(ctx context.Context, text string) ([]float32, error)
	// Count returns how many tokens text has. It is called for texts before they are
	// encoded, and repeatedly while a long text is split, so it should be far cheaper
	// than Encode. For a text with more tokens than Window any larger number will do.
	Count(text string) int
	// Window is the maximum number of tokens in one vector, more than 0. A longer text is
	// split.
	Window() int
}

// useLite is the embedded encoder.
type useLite struct{ *uselite.Model }

// Window returns the number of tokens at which the published model clips.
func (useLite) Window() int { return uselite.MaxTokens }

func embeddedEncoder() (Encoder, error) {
	m, err := uselite.Read(encoderFile)
	if err != nil {
		return nil, fmt.Errorf("similarity: read the embedded encoder: %w", err)
	}
	return useLite{m}, nil
}

func embeddedWords() (*wordvec.Table, error) {
	t, err := wordvec.Read(wordsFile)
	if err != nil {
		return nil, fmt.Errorf("similarity: read the embedded word vectors: %w", err)
	}
	return t, nil
}
