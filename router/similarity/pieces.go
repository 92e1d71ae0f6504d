package similarity

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"
)

// bytesPerToken is how long a token may be on average before a text is refused,
// or cut, without counting its tokens. English text has about four bytes for
// each.
const bytesPerToken = 16

// bytesOf is how many bytes so many tokens may have, or the largest number.
func bytesOf(tokens int) int { return product(tokens, bytesPerToken) }

// product multiplies numbers that are not negative and stops at the largest.
func product(n, each int) int {
	if n > math.MaxInt/each {
		return math.MaxInt
	}
	return n * each
}

// piece is a part of a state that fits into one vector.
type piece struct {
	text   string
	tokens int
}

// cutter cuts texts into pieces that fit into one vector. It never counts, nor
// returns, a piece of more than bytesOf(window) bytes, and it counts a byte at
// most once for each halving of such a piece: its work is linear.
type cutter struct {
	window int              // most tokens of a piece
	count  func(string) int // tokens of a text
	// full ends the work with its error; it is asked after every addition with
	// the number of pieces and of their tokens so far.
	full func(pieces, tokens int) error

	pieces []piece
	tokens int
}

// split cuts the texts of a state into pieces of at most window tokens, as few
// as sentences allow: a state that fits is one piece. Sentences too long for a
// piece are halved, between words if there are any. Nothing is left out. Its
// error is that of full or of ctx, which is looked at before every count.
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

// halve cuts a sentence in two until the parts fit, and adds them.
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

// add adds a part, to the last piece if it fits there.
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

// sentences cuts folded text behind the marks that end a sentence.
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

// cut says where the left half of a text of at least two runes ends and where
// the right half begins.
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
