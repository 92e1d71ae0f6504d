package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	letters "unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// errBinary is the failure of a file that is no text in any encoding that is looked for.
var errBinary = errors.New("not text: it looks like a binary file")

// parseText makes a document of a plain-text file: its state is the text.
func parseText(raw []byte) (document, error) {
	var doc document
	text := decodeFile(raw)
	if controls(text)*50 > len(text) {
		return document{}, errBinary
	}
	if strings.ContainsRune(text, 0) {
		doc.notes.add("NUL bytes were left out")
	}
	text = tidy(text)
	if text == "" {
		return document{}, errEmpty
	}
	doc.title, _, _ = strings.Cut(text, "\n")
	state, err := encode(shorten(text, &doc.notes))
	doc.state = state
	return doc, err
}

// decodeFile is decodeText for a file, which may be UTF-16 also without a byte order mark.
func decodeFile(raw []byte) string {
	if _, marked := utf16Mark(raw); !marked && len(raw)%2 == 0 && bytes.IndexByte(raw, 0) >= 0 {
		little, big := decodeUTF16(raw, unicode.LittleEndian), decodeUTF16(raw, unicode.BigEndian)
		switch l, b := usual(little), usual(big); {
		case l > 3*b && l*50 > len(raw)/2:
			return little
		case b > 3*l && b*50 > len(raw)/2:
			return big
		}
	}
	return decodeText(raw)
}

// usual counts what is in almost every text, whatever its language: spaces, line ends, digits, Latin
// letters, Chinese stops; less what is in none. It is 0 for what cannot be UTF-16 in this byte order.
func usual(text string) int {
	if strings.ContainsAny(text, "\x00\ufffd") {
		return 0
	}
	n := 0
	for _, r := range text {
		switch {
		case r >= ' ' && r < 0x7f, strings.ContainsRune("\n\r\t\u3000\u3001\u3002\uff0c", r):
			n++
		case !letters.IsGraphic(r):
			n--
		}
	}
	return n
}

// decodeText finds out how text is encoded: by its byte order mark, as UTF-8 if it is valid, and else as
// Windows-1252, in which every byte means something.
func decodeText(raw []byte) string {
	if order, marked := utf16Mark(raw); marked {
		return decodeUTF16(raw, order)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if utf8.Valid(raw) {
		return string(raw)
	}
	text, _ := charmap.Windows1252.NewDecoder().Bytes(raw) // a table of 256 entries cannot fail
	return string(text)
}

// decodeUTF16 decodes UTF-16 in the byte order of its mark, or else in the given one. What is broken in it
// becomes U+FFFD.
func decodeUTF16(raw []byte, order unicode.Endianness) string {
	text, _ := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(raw) // it replaces and never fails
	return string(text)
}

// utf16Mark reads a byte order mark of UTF-16.
func utf16Mark(raw []byte) (unicode.Endianness, bool) {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return unicode.LittleEndian, true
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return unicode.BigEndian, true
	}
	return unicode.LittleEndian, false
}

// tidy makes line ends "\n", takes out control characters and what is no character, leaves at most one
// empty line in a row and no space at either end.
func tidy(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n", "\v", "\n").Replace(text)
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	var out strings.Builder
	empty := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\n\u00a0")
		if line == "" {
			empty++
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n"[:min(empty, 1)+1])
		}
		out.WriteString(line)
		empty = 0
	}
	return strings.TrimSpace(out.String())
}

// shorten cuts a long text between two words, with a note.
func shorten(text string, n *notes) string {
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	if i := strings.LastIndexAny(text[:cut], " \t\n"); i > 0 {
		cut = i
	}
	n.add("only the first %d of %d bytes of the text are asked about", cut, len(text))
	return strings.TrimSpace(text[:cut])
}

// controls counts the control characters that do not belong in text.
func controls(text string) int {
	n := 0
	for _, r := range text {
		if r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r) || r >= 0x7f && r < 0xa0 && r != 0x85 {
			n++
		}
	}
	return n
}

// encode is v as JSON, with the characters of HTML as they are.
func encode(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}
