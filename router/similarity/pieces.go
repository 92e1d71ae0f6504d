package similarity

import (
	"strings"
	"unicode/utf8"
)

// piece is a part of a state that fits into one vector.
type piece struct {
	text   string
	tokens int
}

// split cuts the texts of a state into pieces of at most window tokens, as few
// as sentences allow: a state that fits is one piece. Sentences too long for a
// piece are halved, between words if there are any. Nothing is left out.
func split(texts []string, window int, count func(string) int) []piece {
	whole := strings.Join(texts, " ")
	if n := count(whole); n <= window {
		if whole == "" {
			return nil
		}
		return []piece{{text: whole, tokens: n}}
	}
	var pieces []piece
	for _, text := range texts {
		for _, sentence := range sentences(text) {
			for _, part := range halve(sentence, window, count) {
				pieces = join(pieces, part, window)
			}
		}
	}
	return pieces
}

// join adds a part to the last piece if it fits there.
func join(pieces []piece, part piece, window int) []piece {
	if last := len(pieces) - 1; last >= 0 && pieces[last].tokens+part.tokens <= window {
		pieces[last].text += " " + part.text
		pieces[last].tokens += part.tokens
		return pieces
	}
	return append(pieces, part)
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

// halve cuts a sentence in two until the parts fit.
func halve(text string, window int, count func(string) int) []piece {
	if text == "" {
		return nil
	}
	n := count(text)
	if n <= window || utf8.RuneCountInString(text) < 2 {
		return []piece{{text: text, tokens: n}}
	}
	left, right := cut(text)
	return append(halve(text[:left], window, count), halve(text[right:], window, count)...)
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
