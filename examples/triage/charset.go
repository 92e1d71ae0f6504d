package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io"
	"mime"
	"mime/quotedprintable"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// lookup is the encoding of a declared charset: by the names and habits of the web, where iso-8859-1 means
// Windows-1252, else by the registry of mail. It is nil when nobody knows the name.
func lookup(label string) encoding.Encoding {
	label = strings.TrimSpace(label)
	if e, err := htmlindex.Get(label); err == nil && e != encoding.Replacement {
		return e
	}
	if e, err := ianaindex.MIME.Encoding(label); err == nil {
		return e
	}
	return nil
}

// decodeDeclared decodes text by its declared charset, unless the text shows that the label is wrong: then
// as [decodeText] finds out, with a note. An empty label declares nothing.
func decodeDeclared(raw []byte, label string, n *notes) string {
	if _, marked := utf16Mark(raw); label == "" || marked && strings.HasPrefix(strings.ToLower(label), "utf-16") {
		return decodeText(raw)
	}
	e := lookup(label)
	western := e == charmap.Windows1252 || e == nil
	name := ""
	if e != nil {
		name, _ = htmlindex.Name(e)
	}
	switch {
	case isASCII(raw) && (western || name == "utf-8"):
		return string(raw)
	case e == nil:
		n.add("unknown charset %q: guessed", label)
		return decodeText(raw)
	case name == "utf-8" && !utf8.Valid(raw), western && utf8.Valid(raw),
		strings.HasPrefix(name, "utf-16") && bytes.IndexByte(raw, 0) < 0:
		n.add("the text is not in the charset %q that it declares: guessed", label)
		return decodeText(raw)
	}
	text, err := e.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		n.add("some of the text is not in the charset %q that it declares", label)
	}
	return strings.TrimPrefix(string(text), "\ufeff")
}

func isASCII(raw []byte) bool {
	for _, b := range raw {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// htmlLabel is the charset of an HTML body whose mail header names none: what a meta element says.
func htmlLabel(raw []byte) string {
	_, name, _ := charset.DetermineEncoding(raw, "")
	if name == "windows-1252" { // also what it says when it does not know
		return ""
	}
	return name
}

// decodeTransfer undoes a Content-Transfer-Encoding. A broken one costs a note and, at most, what is broken.
func decodeTransfer(raw []byte, name string, n *notes) []byte {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "", "7bit", "8bit", "binary":
		return raw
	case "quoted-printable":
		text, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(raw)))
		if err != nil {
			n.add("broken quoted-printable: kept as it stands where it is broken")
			return saveQuoted(raw)
		}
		return text
	case "base64":
		text, whole := saveBase64(raw)
		if !whole {
			n.add("broken base64: kept what could be read")
		}
		return text
	}
	n.add("unknown transfer encoding %q: taken as it stands", name)
	return raw
}

// saveQuoted decodes quoted-printable and leaves alone what is none.
func saveQuoted(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for line := range bytes.Lines(raw) {
		body := bytes.TrimRight(line, " \t\r\n")
		soft := bytes.HasSuffix(body, []byte("="))
		body = bytes.TrimSuffix(body, []byte("="))
		for i := 0; i < len(body); i++ {
			if body[i] == '=' && i+2 < len(body) {
				if b, ok := hexByte(body[i+1], body[i+2]); ok {
					out = append(out, b)
					i += 2
					continue
				}
			}
			out = append(out, body[i])
		}
		if !soft && bytes.HasSuffix(line, []byte("\n")) {
			out = append(out, '\n')
		}
	}
	return out
}

func hexByte(hi, lo byte) (byte, bool) {
	var b [1]byte
	_, err := hex.Decode(b[:], []byte{hi, lo})
	return b[0], err == nil
}

// saveBase64 decodes base64, whatever else stands between its letters, and says whether nothing was lost.
// Several padded runs after one another, which some programs write, are one text.
func saveBase64(raw []byte) ([]byte, bool) {
	whole := true
	var out []byte
	letters := make([]byte, 0, len(raw))
	run := func() {
		text, err := base64.RawStdEncoding.AppendDecode(out, letters)
		out, letters, whole = text, letters[:0], whole && err == nil
	}
	pads := 0
	for _, b := range raw {
		switch {
		case b == '=':
			pads++
		case isBase64(b):
			if pads > 0 {
				whole = whole && (len(letters)+pads)%4 == 0
				run()
				pads = 0
			}
			letters = append(letters, b)
		case b != '\r' && b != '\n' && b != ' ' && b != '\t':
			whole = false
		}
	}
	whole = whole && (len(letters)+pads)%4 == 0
	run()
	return out, whole
}

func isBase64(b byte) bool {
	return b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '+' || b == '/'
}

// decodeHeader decodes the encoded words of a header field, and guesses the charset of raw bytes in it.
func decodeHeader(value string, n *notes) string {
	if !isASCII([]byte(value)) {
		value = decodeText([]byte(value))
	}
	words := mime.WordDecoder{CharsetReader: func(label string, input io.Reader) (io.Reader, error) {
		raw, err := io.ReadAll(input)
		if err != nil {
			return nil, err
		}
		return strings.NewReader(decodeDeclared(raw, label, n)), nil
	}}
	text, err := words.DecodeHeader(value)
	if err != nil {
		n.add("a header field has a broken encoded word")
		text = value
	}
	return strings.Join(strings.Fields(tidy(text)), " ")
}
