package main

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strings"
)

// Limits of one mail, against mails that are made to take apart whoever takes them apart.
const (
	maxDepth = 16   // parts within parts
	maxParts = 1000 // parts in all
)

// fields is a header: the mail.Header of a mail or the textproto.MIMEHeader of one of its parts.
type fields interface {
	Get(name string) string
}

// part is a piece of a mail with a header of its own.
type part struct {
	header fields
	body   []byte
	usual  string // the media type that a part has here when it names none; empty for text/plain
	whole  bool   // it is a mail's whole body
}

// content is the text that was found in a part.
type content struct {
	text string
	html bool // it was HTML, or begins with what was HTML
}

func (c content) blank() bool { return strings.TrimSpace(c.text) == "" }

// entity is the text of a part and of the parts within it.
func (p *mailParser) entity(e part) content {
	kind, params := p.mediaType(e)
	p.parts++
	if p.depth >= maxDepth || p.parts > maxParts {
		p.notes.add("more than %d parts, or more than %d within one another: the rest was left out", maxParts, maxDepth)
		return content{}
	}
	p.depth++
	defer func() { p.depth-- }()
	major, minor, _ := strings.Cut(kind, "/")
	switch {
	case major == "multipart":
		return p.multipart(e, minor, params)
	case major == "message" && (minor == "rfc822" || minor == "global"):
		return p.enclosed(e)
	case kind == "text/html", kind == "application/xhtml+xml":
		raw := decodeTransfer(e.body, e.header.Get("Content-Transfer-Encoding"), p.notes)
		label := params["charset"]
		if label == "" {
			label = htmlLabel(raw)
		}
		return content{text: htmlText(decodeDeclared(raw, label, p.notes)), html: true}
	case kind == "text/plain", major == "text" && e.whole:
		raw := decodeTransfer(e.body, e.header.Get("Content-Transfer-Encoding"), p.notes)
		return content{text: decodeDeclared(raw, params["charset"], p.notes)}
	}
	return content{}
}

// mediaType reads Content-Type, a broken one as far as it goes.
func (p *mailParser) mediaType(e part) (string, map[string]string) {
	value := e.header.Get("Content-Type")
	if strings.TrimSpace(value) == "" {
		if e.usual != "" {
			return e.usual, nil
		}
		return "text/plain", nil
	}
	kind, params, err := mime.ParseMediaType(value)
	if err == nil {
		return kind, params
	}
	kind, _, _ = strings.Cut(value, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if !strings.Contains(kind, "/") {
		kind = "text/plain"
	}
	params = map[string]string{}
	for _, name := range []string{"charset", "boundary"} {
		find := regexp.MustCompile(`(?i)[;\s]` + name + `\s*=\s*(?:"([^";]*)|([^\s;"]+))`)
		if m := find.FindStringSubmatch(value); m != nil {
			params[name] = m[1] + m[2]
		}
	}
	p.notes.add("broken Content-Type: taken as %s", kind)
	return kind, params
}

// attached says whether a part is a file that goes along and not something to read.
func attached(header fields) bool {
	kind, _, _ := strings.Cut(header.Get("Content-Disposition"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "attachment")
}

// multipart is the text of a body of several parts, by the meaning that its subtype gives them.
func (p *mailParser) multipart(e part, minor string, params map[string]string) content {
	parts := p.split(e, params["boundary"])
	if parts == nil {
		p.notes.add("multipart without the boundary that it declares: taken as text")
		raw := decodeTransfer(e.body, e.header.Get("Content-Transfer-Encoding"), p.notes)
		return content{text: decodeDeclared(raw, params["charset"], p.notes)}
	}
	if minor == "digest" {
		for i := range parts {
			parts[i].usual = "message/rfc822"
		}
	}
	switch minor {
	case "alternative":
		return p.alternative(parts)
	case "related":
		return p.related(parts)
	}
	return p.mixed(parts, minor == "report")
}

// alternative is the best of several forms of one text: plain before HTML, and of two alike the later one,
// which the sender meant to be better. An empty form is none.
func (p *mailParser) alternative(parts []part) content {
	var best content
	for _, e := range parts {
		if attached(e.header) {
			continue
		}
		if c := p.entity(e); !c.blank() && (best.blank() || best.html || !c.html) {
			best = c
		}
	}
	return best
}

// related is the text of the first part that has one: the others are what it refers to.
func (p *mailParser) related(parts []part) content {
	for _, e := range parts {
		if attached(e.header) {
			continue
		}
		if c := p.entity(e); !c.blank() {
			return c
		}
	}
	return content{}
}

// mixed is the text of all parts in their order, without attachments. When nothing else has a text, mails
// that are attached are read: somebody forwarded them. The mail that a report sends back is left out.
func (p *mailParser) mixed(parts []part, report bool) content {
	var all content
	var enclosed []part
	for _, e := range parts {
		kind, _ := p.mediaType(e)
		mail := strings.HasPrefix(kind, "message/")
		switch {
		case mail && (report || attached(e.header)):
			enclosed = append(enclosed, e)
		case !attached(e.header):
			all = all.join(p.entity(e))
		}
	}
	if all.blank() {
		for _, e := range enclosed {
			all = all.join(p.entity(e))
		}
	}
	return all
}

// join puts a text after another.
func (c content) join(next content) content {
	switch {
	case next.blank():
		return c
	case c.blank():
		return next
	}
	c.text = strings.TrimRight(c.text, "\r\n") + "\n\n" + next.text
	return c
}

// enclosed is the subject and the text of a mail within a mail.
func (p *mailParser) enclosed(e part) content {
	raw := decodeTransfer(e.body, e.header.Get("Content-Transfer-Encoding"), p.notes)
	m, err := p.open(raw)
	if err != nil {
		p.notes.add("an enclosed mail cannot be read: left out")
		return content{}
	}
	l := p.read(m)
	return content{text: l.Subject}.join(content{text: l.Text})
}

// split takes a multipart body apart, as far as it goes: what comes before a break is kept. It returns nil
// when no part begins anywhere.
func (p *mailParser) split(e part, boundary string) []part {
	if boundary == "" {
		boundary = guessBoundary(e.body)
	}
	if boundary == "" {
		return nil
	}
	var parts []part
	r := multipart.NewReader(bytes.NewReader(e.body), boundary)
	for len(parts) <= maxParts {
		next, err := r.NextRawPart()
		if err != nil {
			if parts != nil && !errors.Is(err, io.EOF) {
				p.notes.add("a multipart breaks off: kept what stands before")
			}
			break
		}
		body, err := io.ReadAll(next)
		parts = append(parts, part{header: next.Header, body: body})
		if err != nil {
			p.notes.add("a multipart breaks off: kept what stands before")
			break
		}
	}
	return parts
}

// guessBoundary is the boundary of a body whose header does not name it: its first line that looks like one.
func guessBoundary(body []byte) string {
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, " \t\r\n")
		if name, ok := bytes.CutPrefix(line, []byte("--")); ok && len(name) > 0 && !bytes.ContainsAny(name, " \t") {
			return string(name)
		}
	}
	return ""
}
