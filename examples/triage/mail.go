package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
)

// letter is what is asked about of a mail: its JSON is the state. From and Date are left out unless the
// caller wants them: a model that compares meanings takes a name and an address for a part of what is said.
type letter struct {
	Subject string `json:"subject,omitempty"`
	From    string `json:"from,omitempty"`
	Date    string `json:"date,omitempty"`
	Text    string `json:"text,omitempty"`
}

// parseMail makes a document of one mail, named by its Message-ID.
func (o options) parseMail(raw []byte) (document, error) {
	var doc document
	p := mailParser{notes: &doc.notes}
	m, err := p.open(raw)
	if err != nil {
		return document{}, err
	}
	l := p.read(m)
	if l.Subject == "" && l.Text == "" {
		return document{}, p.nothing()
	}
	doc.id = strings.Trim(strings.TrimSpace(m.Header.Get("Message-Id")), "<>")
	doc.title = l.Subject
	if doc.title == "" {
		doc.title, _, _ = strings.Cut(l.Text, "\n")
	}
	l.Text = shorten(l.Text, &doc.notes)
	if !o.envelope {
		l.From, l.Date = "", ""
	}
	doc.state, err = encode(l)
	return doc, err
}

// mailParser reads one mail and the mails and parts within it.
type mailParser struct {
	notes *notes
	parts int // how many parts were opened
	depth int // how many parts stand around the one that is being read
}

// open splits a mail into header and body. Lines of the header that are none are left out with a note.
func (p *mailParser) open(raw []byte) (*mail.Message, error) {
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	raw = bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), "\n")
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errEmpty
	}
	head, body := splitHeader(raw)
	clean := make([]byte, 0, len(head)+1)
	for line := range bytes.Lines(head) {
		folded := line[0] == ' ' || line[0] == '\t'
		name, value, ok := field(line)
		switch {
		case folded && len(clean) > 0:
			clean = append(clean, line...)
		case ok:
			clean = append(append(append(clean, name...), ':'), value...)
		case !isEnvelope(line) && len(bytes.TrimSpace(line)) > 0:
			p.notes.add("a line of the header is no field: left out")
		}
	}
	if len(clean) == 0 {
		return nil, errors.New("not a mail: it begins with no header field")
	}
	m, err := mail.ReadMessage(bytes.NewReader(append(clean, '\n')))
	if err != nil {
		return nil, fmt.Errorf("not a mail: %w", err)
	}
	m.Body = bytes.NewReader(body)
	return m, nil
}

// read decodes the fields and the text of a mail.
func (p *mailParser) read(m *mail.Message) letter {
	l := letter{
		Subject: decodeHeader(m.Header.Get("Subject"), p.notes),
		From:    decodeHeader(m.Header.Get("From"), p.notes),
	}
	if date, err := m.Header.Date(); err == nil {
		l.Date = date.Format(time.RFC3339)
	}
	body := new(bytes.Buffer)
	_, _ = body.ReadFrom(m.Body) // it stands in memory
	l.Text = tidy(p.entity(part{header: m.Header, body: body.Bytes(), whole: true}).text)
	return l
}

// nothing is the failure of a mail of which nothing is left, with what was wrong with it.
func (p *mailParser) nothing() error {
	if len(*p.notes) == 0 {
		return errEmpty
	}
	return fmt.Errorf("%w (%s)", errEmpty, strings.Join(*p.notes, "; "))
}

// splitHeader cuts a mail at its first empty line. A mail may end before one.
func splitHeader(raw []byte) (head, body []byte) {
	if i := bytes.Index(raw, []byte("\n\n")); i >= 0 {
		return raw[:i+1], raw[i+2:]
	}
	return append(bytes.Clone(raw), '\n'), nil
}

// field cuts a line that begins a header field: a name of visible characters, a colon, a value.
func field(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	name = bytes.TrimRight(name, " \t")
	for _, b := range name {
		ok = ok && b > ' ' && b < 0x7f
	}
	return name, value, ok && len(name) > 0
}

// isEnvelope says whether a line is the one that mbox puts before a mail, or an escaped one.
func isEnvelope(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From "))
}
