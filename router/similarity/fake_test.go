package similarity

import "context"

// blind is an encoder that gives every text the same vector, at once.
type blind struct{}

func (blind) Encode(context.Context, string) ([]float32, error) { return []float32{1, 0}, nil }
func (blind) Count(text string) int                             { return len(text) / 4 }
func (blind) Window() int                                       { return 128 }
