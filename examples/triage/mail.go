package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // charsets beyond UTF-8
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
)

// Limits of one mail. They bound the work on a mail that is made to be expensive.
const (
	maxDepth = 16   // parts within parts
	maxParts = 1000 // parts in all
)

// envelope matches what a mailbox puts before a mail.
var envelope = regexp.MustCompile(`^(\s*>?From [^\n]*\n)*\n*`)

// mailParser fills a document from a mail and the parts within it.
type mailParser struct {
	document

	parts int // read so far
}

// parseMail makes a document of one mail, named by its Message-ID. Its sender and its date are not in the state: a
// model that compares meanings takes them for a part of the text.
func parseMail(raw []byte) (document, error) {
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	if raw = raw[len(envelope.Find(raw)):]; len(bytes.TrimSpace(raw)) == 0 {
		return document{}, errEmpty
	}
	var p mailParser
	e, err := p.open(bytes.NewReader(raw))
	if err != nil {
		return document{}, err
	}
	text, _ := p.read(e, 0)
	state := struct {
		Subject string `json:"subject,omitempty"`
		Text    string `json:"text,omitempty"`
	}{p.subject(e), p.shorten(tidy(text))}
	if state.Subject == "" && state.Text == "" {
		return document{}, errors.New(strings.Join(append(p.notes, errEmpty.Error()), "; "))
	}
	p.name = strings.Trim(e.Header.Get("Message-Id"), "<> ")
	p.state, err = json.Marshal(state)
	return p.document, err
}

// open reads the header of a mail.
func (p *mailParser) open(r io.Reader) (*message.Entity, error) {
	e, err := message.ReadWithOptions(r, &message.ReadOptions{MaxHeaderBytes: maxItem + 1})
	if e == nil {
		return nil, fmt.Errorf("not a mail: %w", err)
	}
	p.check(err, "read as it stands")
	return e, nil
}

// check notes an error and what was done about it.
func (p *mailParser) check(err error, what string) {
	if err != nil {
		p.note("%s: %s", what, oneLine(err))
	}
}

func (p *mailParser) subject(e *message.Entity) string {
	text, err := e.Header.Text("Subject")
	p.check(err, "subject read as it stands")
	return strings.Join(strings.Fields(tidy(decodeText([]byte(text)))), " ")
}

// read returns the text of a part and of the parts within it, and whether it is HTML.
func (p *mailParser) read(e *message.Entity, depth int) (text string, isHTML bool) {
	kind, params, err := e.Header.ContentType()
	if err != nil {
		kind, _, _ = strings.Cut(e.Header.Get("Content-Type"), ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
		p.note("broken Content-Type: taken as %s", kind)
	}
	major, minor, _ := strings.Cut(kind, "/")
	switch p.parts++; {
	case depth > maxDepth || p.parts > maxParts:
		p.note("more than %d parts, or more than %d within one another: the rest is left out", maxParts, maxDepth)
	case major == "multipart":
		return p.multipart(e, minor, depth)
	case kind == "message/rfc822":
		inner, err := p.open(e.Body)
		if p.check(err, "an enclosed mail is left out"); err == nil {
			text, isHTML = p.read(inner, depth+1)
			return join(p.subject(inner), text), isHTML
		}
	case minor == "html", minor == "plain", major == "text" && depth == 0:
		if text = p.body(e, strings.ToLower(params["charset"])); minor == "html" {
			text = htmlText(text)
		}
		return text, minor == "html"
	}
	return "", false
}

// body decodes the body of a text, as far as it can be read.
func (p *mailParser) body(e *message.Entity, label string) string {
	raw, err := io.ReadAll(e.Body)
	p.check(err, "a part breaks off")
	if label == "" { // HTML may declare it itself
		if decode, name, _ := charset.DetermineEncoding(raw, ""); name != "windows-1252" { // that is also its guess
			raw, _ = decode.NewDecoder().Bytes(raw)
		}
	}
	text := decodeText(raw)
	if label == "iso-8859-1" { // often it is Windows-1252 or UTF-8
		if latin, err := charmap.ISO8859_1.NewEncoder().String(text); err == nil {
			text = decodeText([]byte(latin))
		}
	}
	return text
}

// multipart returns the text of the parts. Of alternatives it is the last plain one, or else the last HTML. Otherwise
// it is all parts but attachments; mails that are attached or returned count when there is no other text.
func (p *mailParser) multipart(e *message.Entity, minor string, depth int) (all string, isHTML bool) {
	enclosed := ""
	for r := e.MultipartReader(); r != nil && p.parts <= maxParts; {
		part, err := r.NextPart()
		if part == nil {
			if err != io.EOF { //nolint:errorlint // the error of a part that breaks off wraps it
				p.check(err, "a multipart breaks off")
			}
			break
		}
		p.check(err, "read as it stands")
		disposition, _, _ := part.Header.ContentDisposition()
		attached := disposition == "attachment"
		mail := strings.HasPrefix(strings.ToLower(part.Header.Get("Content-Type")), "message/")
		if attached && !mail {
			continue
		}
		switch text, html := p.read(part, depth+1); {
		case mail && (attached || minor == "report"):
			enclosed = join(enclosed, text)
		case minor != "alternative":
			all, isHTML = join(all, text), isHTML || html
		case tidy(text) != "" && (all == "" || isHTML || !html):
			all, isHTML = text, html
		}
	}
	if tidy(all) == "" {
		return enclosed, false
	}
	return all, isHTML
}

// join puts a paragraph after another.
func join(first, next string) string { return strings.TrimSpace(first + "\n\n" + next) }
