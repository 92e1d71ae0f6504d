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

// Encoder turns texts into vectors whose dot product says how alike their
// meanings are. Implementations must be safe for concurrent use. A better
// encoder than the embedded one is given to [New] in [Config.Encoder]; with it
// belong weights that were fitted to it. No text that it is given has more than
// 16 bytes for each token of Window.
type Encoder interface {
	// Encode returns a vector of length 1, always of the same dimension, or nil
	// for a text that nothing can be said about. Text beyond Window is cut. It
	// honours ctx.
	Encode(ctx context.Context, text string) ([]float32, error)
	// Count says how many tokens text has. It is called with every text before
	// Encode, and again with parts of those that are too long, and should be far
	// cheaper. Of a text with more tokens than Window it need only say that it
	// has more.
	Count(text string) int
	// Window is the number of tokens, more than 0, that one vector can be made
	// of. A longer state is split.
	Window() int
}

// useLite is the embedded encoder.
type useLite struct{ *uselite.Model }

// Window is the clip length of the published model.
func (useLite) Window() int { return uselite.MaxTokens }

func embeddedEncoder() (Encoder, error) {
	m, err := uselite.Read(encoderFile)
	if err != nil {
		return nil, fmt.Errorf("similarity: the embedded encoder: %w", err)
	}
	return useLite{m}, nil
}

func embeddedWords() (*wordvec.Table, error) {
	t, err := wordvec.Read(wordsFile)
	if err != nil {
		return nil, fmt.Errorf("similarity: the embedded words: %w", err)
	}
	return t, nil
}
