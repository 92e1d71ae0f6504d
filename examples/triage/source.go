package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/emersion/go-message/textproto"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	sniffed = 64 << 10 // bytes at the start of a file by which its format is told
	maxItem = 4 << 20  // bytes of the largest item: the items at work bound the memory, not the size of a file
)

var errTooLarge = fmt.Errorf("larger than %d MiB: skipped", maxItem>>20)

// item is a part of a file to decide about, not yet parsed.
type item struct {
	source string // the file, and the line or the number of the message in it
	id     string // what it is called unless the document has a name
	raw    []byte
	parse  func(raw []byte) (document, error)
	err    error // why it could not be read
}

// find yields the items of all files, in order. A file that cannot be read is an item that failed.
func (o options) find(ctx context.Context, stdin io.Reader) iter.Seq[item] {
	return func(yield func(item) bool) {
		for _, name := range o.files {
			open := func() (io.ReadCloser, error) { return os.Open(name) } //nolint:gosec // the user names the file
			if name == "-" {
				name, open = "stdin", func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
			}
			r, wanted := interruptible(ctx, open), true
			o.file(name, r, func(i item) bool {
				wanted = yield(i)
				return wanted
			})
			if _ = r.Close(); !wanted || ctx.Err() != nil {
				return
			}
		}
	}
}

// interruptible reads what open opens, until ctx ends. Its goroutine ends with the stream, with ctx or when the reader
// is closed, but a read of a terminal cannot be called back: a goroutine that waits in one ends with the process.
func interruptible(ctx context.Context, open func() (io.ReadCloser, error)) *io.PipeReader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	go func() {
		f, err := open()
		if err == nil {
			_, err = io.Copy(w, f)
			_ = f.Close() // nothing was written
		}
		_ = w.CloseWithError(err)
	}()
	return r
}

// file yields the items of one file. A file with a byte order mark is UTF-8 or UTF-16, whatever its format.
func (o options) file(name string, r io.Reader, yield func(item) bool) {
	in := bufio.NewReaderSize(transform.NewReader(r, unicode.BOMOverride(transform.Nop)), sniffed)
	base := filepath.Base(name)
	if _, err := in.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		yield(item{source: name, id: base, err: err})
		return
	}
	format := o.format
	if format == "auto" {
		head, _ := in.Peek(sniffed) // the splitter meets an error again
		format = detect(name, head)
	}
	s := splitter{r: in, format: format, yield: func(number int, raw []byte, err error) bool {
		i := item{source: name, id: base, raw: raw, parse: parseMail, err: err}
		switch at := strconv.Itoa(number); format {
		case "jsonl":
			i.source, i.id, i.parse = name+":"+at, at, o.parseLine
		case "mbox":
			i.source, i.id = name+"#"+at, at
		case "text":
			i.parse = parseText
		}
		return yield(i)
	}}
	s.split()
}

var (
	separator = regexp.MustCompile(`^From .*\d:\d\d`)   // between the mails of a mailbox: a sender, a date with a time
	escaped   = regexp.MustCompile(`^>+From `)          // a line of a mail that the mailbox escaped with one more ">"
	field     = regexp.MustCompile(`^[!-9;-~]+[ \t]*:`) // of a mail's header
)

// detect tells the format by the file's name, or else by how the file begins.
func detect(name string, head []byte) string {
	extensions := map[string]string{
		".eml": "mail", ".mbox": "mbox", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "text", ".md": "text", ".log": "text",
	}
	if format := extensions[strings.ToLower(filepath.Ext(name))]; format != "" {
		return format
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case separator.Match(line):
		return "mbox"
	case bytes.HasPrefix(line, []byte(`{"`)) && (json.Valid(line) || len(line) == len(head)):
		return "jsonl"
	}
	// A mail has one of these fields, and notes that look like a header have none.
	known := []string{"Received", "Return-Path", "Message-Id", "Mime-Version", "Delivered-To", "From"}
	if h, err := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(head))); err == nil && slices.ContainsFunc(known, h.Has) {
		return "mail"
	}
	return "text"
}

// splitter cuts a stream into items: the lines of JSON Lines, the mails of a mailbox, or the whole stream. It keeps one
// item in memory.
type splitter struct {
	r      *bufio.Reader
	format string
	yield  func(number int, raw []byte, err error) bool // false: stop
}

func (s splitter) split() {
	var raw []byte
	var failure error
	number, open, empty, more := 0, s.format != "jsonl" && s.format != "mbox", true, true
	for more {
		line, err := s.line()
		over := errors.Is(err, errTooLarge)
		more = err == nil || over
		blank := !over && len(bytes.TrimSpace(line)) == 0
		begins := s.format == "mbox" && empty && bytes.HasPrefix(line, []byte("From "))
		if begins && number > 0 && !separator.Match(line) { // not every program escapes a "From " in a text
			next, _ := s.r.Peek(512)
			begins = field.Match(next)
		}
		switch {
		case begins:
			if open && !s.yield(number, raw, failure) {
				return
			}
			raw, failure, line = nil, nil, nil
			number, open = number+1, true
		case s.format == "jsonl":
			raw, failure, line = nil, nil, bytes.TrimSpace(line)
			number, open = number+1, !blank
		case !open && !blank: // a mailbox that begins with a mail
			number, open = 1, true
		}
		empty = blank && line != nil
		if s.format == "mbox" && escaped.Match(line) {
			line = line[1:]
		}
		if open {
			raw = append(raw, line...)
		}
		if over || len(raw) > maxItem {
			raw, failure = nil, errTooLarge
		}
		if !more && !errors.Is(err, io.EOF) {
			open, failure = true, err
		}
		if open && (!more || s.format == "jsonl") && !s.yield(number, raw, failure) {
			return
		}
	}
}

// line reads a line with its end. Of a line above maxItem it returns errTooLarge, having read it to its end.
func (s splitter) line() ([]byte, error) {
	line := []byte{}
	over := false
	for {
		chunk, err := s.r.ReadSlice('\n')
		if over = over || len(line)+len(chunk) > maxItem+2; !over {
			line = append(line, chunk...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case over && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLarge // the next call meets the end of the stream again
		default:
			return line, err
		}
	}
}
