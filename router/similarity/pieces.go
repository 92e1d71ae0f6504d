package similarity

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"
)

// bytesPerToken is the maximum average size of a token. A text above it is refused or
// split without counting its tokens. English text has about four bytes for each token.
const bytesPerToken = 16

// bytesOf returns how many bytes a number of tokens may have, at most math.MaxInt.
func bytesOf(tokens int) int { return product(tokens, bytesPerToken) }

// product multiplies numbers that are not negative, up to math.MaxInt.
func product(n, each int) int {
	if n > math.MaxInt/each {
		return math.MaxInt
	}
	return n * each
}

// piece is a part of a text that fits into one vector.
type piece struct {
	text   string
	tokens int
}

// cutter splits texts into pieces that fit into one vector. It never counts or returns a
// piece of more than bytesOf(window) bytes. It counts a byte at most once for each
// halving of such a piece, so its work is linear.
type cutter struct {
	window int              // maximum number of tokens in a piece
	count  func(string) int // returns the number of tokens of a text
	// full is called after every addition with the numbers of pieces and tokens so far.
	// Its error ends the split.
	full func(pieces, tokens int) error

	pieces []piece
	tokens int
}

// split splits the texts into pieces of at most window tokens, at the ends of sentences.
// A text that fits is one piece. A sentence that is too long is halved, between words if
// there are any. Nothing is left out. The error is that of full or of ctx, which is
// checked before every count.
func (c *cutter) split(ctx context.Context, texts []string) ([]piece, error) {
	if whole := strings.Join(texts, " "); whole == "" {
		return nil, nil
	} else if len(whole) <= bytesOf(c.window) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if n := c.count(whole); n <= c.window {
			err := c.add(piece{text: whole, tokens: n})
			return c.pieces, err
		}
	}
	for _, text := range texts {
		for _, sentence := range sentences(text) {
			if err := c.halve(ctx, sentence); err != nil {
				return nil, err
			}
		}
	}
	return c.pieces, nil
}

// halve halves a sentence until the parts fit, and adds them.
func (c *cutter) halve(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(text) <= bytesOf(c.window) {
		if n := c.count(text); n <= c.window || utf8.RuneCountInString(text) < 2 {
			return c.add(piece{text: text, tokens: n})
		}
	}
	left, right := cut(text)
	if err := c.halve(ctx, text[:left]); err != nil {
		return err
	}
	return c.halve(ctx, text[right:])
}

// add appends a part to the last piece if it fits there, or adds it as a new piece.
func (c *cutter) add(part piece) error {
	c.tokens += part.tokens
	last := len(c.pieces) - 1
	if last >= 0 && c.pieces[last].tokens+part.tokens <= c.window &&
		len(c.pieces[last].text)+len(part.text) < bytesOf(c.window) {
		c.pieces[last].text += " " + part.text
		c.pieces[last].tokens += part.tokens
	} else {
		c.pieces = append(c.pieces, part)
	}
	return c.full(len(c.pieces), c.tokens)
}

// sentences splits folded text after the marks that end a sentence.
func sentences(text string) []string {
	var found []string
	from := 0
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && strings.IndexByte(".!?;", text[i-1]) >= 0 {
			found = append(found, text[from:i])
			from = i + 1
		}
	}
	return append(found, text[from:])
}

// cut returns where the left half of a text of at least two runes ends and where the
// right half begins.
func cut(text string) (left, right int) {
	middle := len(text) / 2
	if at := strings.IndexByte(text[middle:], ' '); at >= 0 {
		return middle + at, middle + at + 1
	}
	if at := strings.LastIndexByte(text[:middle], ' '); at >= 0 {
		return at, at + 1
	}
	for middle > 0 && !utf8.RuneStart(text[middle]) {
		middle--
	}
	if middle == 0 { // the first rune is longer than half of the text
		_, middle = utf8.DecodeRuneInString(text)
	}
	return middle, middle
}
