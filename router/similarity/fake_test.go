package similarity

import (
	"context"
	"math"

	"github.com/signalbox/signalbox/internal/wordvec"
)

// blind is an encoder that returns the same vector for every text.
type blind struct{}

func (blind) Encode(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }
func (blind) Count(text string) int                             { return len(text) / 4 }
func (blind) Window() int                                       { return 128 }

// spelling is an encoder that finds texts similar if they share words. A token is a word,
// and a vector holds ten of them.
type spelling struct{}

func (spelling) Encode(ctx context.Context, text string) ([]float32, error) {
	words := wordvec.Words(text)
	if len(words) == 0 {
		return nil, ctx.Err()
	}
	v := make([]float32, 64)
	for _, w := range words {
		v[hash('x', w, "")%64]++
	}
	var squares float64
	for _, e := range v {
		squares += float64(e * e)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(squares))
	}
	return v, ctx.Err()
}

func (spelling) Count(text string) int { return len(wordvec.Words(text)) }
func (spelling) Window() int           { return 10 }

// scripted is an encoder whose Encode is a function.
type scripted func(ctx context.Context, text string) ([]float32, error)

func (f scripted) Encode(ctx context.Context, text string) ([]float32, error) { return f(ctx, text) }

func (scripted) Count(text string) int { return len(text)/4 + 1 }
func (scripted) Window() int           { return 128 }
