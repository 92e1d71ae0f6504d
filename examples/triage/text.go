package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"
)

// maxText is how many bytes of a text, or of a mail's text, are asked about: its beginning says what it is about, and
// the embedded model takes longer over more.
const maxText = 5000

var errEmpty = errors.New("empty: nothing to ask about")

// document is a parsed item.
type document struct {
	name  string          // empty when the item has no name of its own
	state json.RawMessage // a string, an object or an array
	notes []string        // what was wrong with the item and did not make it fail; at most maxNotes
}

// maxNotes bounds the lines that one hostile item writes to standard error.
const maxNotes = 8

func (d *document) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(d.notes) < maxNotes && !slices.Contains(d.notes, text) {
		d.notes = append(d.notes, text)
	}
}

// parseText makes a document of a text: its state is the text.
func parseText(raw []byte) (document, error) {
	var doc document
	text := decodeText(raw)
	if strings.ContainsRune(text, 0) {
		return document{}, errors.New("not text: it has NUL bytes, as binary files and UTF-16 without a byte order mark have")
	}
	if text = tidy(text); text == "" {
		return document{}, errEmpty
	}
	state, err := json.Marshal(doc.shorten(text))
	doc.state = state
	return doc, err
}

// decodeText decodes UTF-8, or what is not valid UTF-8 as Windows-1252, in which every byte means something.
func decodeText(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	text, _ := charmap.Windows1252.NewDecoder().Bytes(raw) // a table of 256 entries cannot fail
	return string(text)
}

var (
	lineEnd       = regexp.MustCompile(`[ \t\x{a0}]*(\r\n|[\n\r\f\v])`)
	manyLines     = regexp.MustCompile(`\n{3,}`)
	htmlHidden    = regexp.MustCompile(`^(script|style|title|iframe|noembed|noframes|noscript)$`)
	htmlParagraph = regexp.MustCompile(`^(p|h[1-6]|blockquote|[uod]l|table|hr|pre)$`)
	htmlBlock     = regexp.MustCompile(`^(div|li|tr|d[td]|section|article|header|footer|main|nav|aside|address|figure|form|center|body)$`)
	htmlSpace     = regexp.MustCompile(`[ \t\r\n\f\v]+`)
	htmlBreaks    = regexp.MustCompile(`[ \r\n\f\v]+`)
)

// tidy makes line ends "\n", removes control characters, and leaves at most one empty line in a row and no white space
// at the ends of lines or of the text.
func tidy(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || r == '\ufeff' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return strings.TrimSpace(manyLines.ReplaceAllString(lineEnd.ReplaceAllString(text, "\n"), "\n\n"))
}

// shorten cuts a long text between two words, with a note.
func (d *document) shorten(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := len(strings.ToValidUTF8(text[:maxText], ""))
	if i := strings.LastIndexAny(text[:cut], " \t\n"); i > 0 {
		cut = i
	}
	d.note("only the first %d of %d bytes of the text are asked about", cut, len(text))
	return strings.TrimSpace(text[:cut])
}

// parseLine makes a document of a line of JSON Lines. Its state is the value or the named member, as it is written.
func (o options) parseLine(raw []byte) (document, error) {
	doc := document{state: bytes.TrimSpace(raw)}
	if !utf8.Valid(raw) {
		return document{}, errors.New("not valid UTF-8")
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return document{}, fmt.Errorf("not JSON: %w", err)
	}
	var members map[string]json.RawMessage
	if (o.state != "" || o.id != "") && json.Unmarshal(raw, &members) != nil {
		return document{}, errors.New("not a JSON object: it has no members")
	}
	if o.state != "" {
		doc.state = members[o.state]
	}
	if doc.state == nil {
		return document{}, fmt.Errorf("no member %q for the state", o.state)
	}
	if id := members[o.id]; o.id != "" {
		if len(id) == 0 || !bytes.ContainsAny(id[:1], `"-0123456789`) {
			return document{}, fmt.Errorf("no member %q with a string or a number for the id", o.id)
		}
		if json.Unmarshal(id, &doc.name) != nil {
			doc.name = string(id)
		}
	}
	if !bytes.ContainsAny(doc.state[:1], `"{[`) {
		return document{}, errors.New("the state must be a string, an object or an array")
	}
	return doc, nil
}

// htmlText is the text of an HTML document as a reader sees it: lines where the blocks are, no scripts and no styles.
// It reads one tag after another and builds no tree, so deep nesting costs nothing. While it collects, "\v" is a break
// at a block, "\f" one at a paragraph and "\r" one before an item of a list. The end folds runs of breaks and spaces.
func htmlText(source string) string {
	var out strings.Builder
	hidden := false // the next text is not shown
	for z := html.NewTokenizer(strings.NewReader(source)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return htmlBreaks.ReplaceAllStringFunc(out.String(), fold)
		case html.TextToken:
			if text := string(z.Text()); !hidden {
				out.WriteString(htmlSpace.ReplaceAllString(text, " "))
			}
			hidden = false
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			hidden = kind == html.StartTagToken && htmlHidden.Match(name) // its content is one text token
			switch tag := string(name); {
			case tag == "br":
				out.WriteByte('\n')
			case tag == "td", tag == "th":
				out.WriteByte(' ')
			case tag == "li" && kind == html.StartTagToken:
				out.WriteByte('\r')
			case htmlParagraph.Match(name):
				out.WriteByte('\f')
			case htmlBlock.Match(name):
				out.WriteByte('\v')
			}
		default: // comments and the doctype
		}
	}
}

// fold makes one break or space of a run of breaks and spaces.
func fold(run string) string {
	text := " "
	switch {
	case strings.Contains(run, "\f") || strings.Count(run, "\n") > 1:
		text = "\n\n"
	case run != strings.Repeat(" ", len(run)):
		text = "\n"
	}
	return text + "- "[:2*min(strings.Count(run, "\r"), 1)]
}
