package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// splitter takes a stream apart into items without understanding them. It keeps one item in memory.
type splitter struct {
	name  string // the file, for people
	r     *bufio.Reader
	parse func([]byte) (document, error)
	yield func(item) bool // false: stop
}

// one yields the whole stream as one item.
func (s splitter) one(id string) {
	raw, err := io.ReadAll(io.LimitReader(s.r, maxItem+1))
	if err == nil && len(raw) > maxItem {
		err = errTooLarge
	}
	s.send(item{source: s.name, id: id, raw: raw, err: err})
}

// send yields an item, without its bytes when it failed.
func (s splitter) send(i item) bool {
	i.parse = s.parse
	if i.err != nil {
		i.raw, i.parse = nil, nil
	}
	return s.yield(i)
}

// lines yields each line that is not empty.
func (s splitter) lines() {
	for number := 1; ; number++ {
		line, err := readLine(s.r)
		done := errors.Is(err, io.EOF)
		if done {
			err = nil
		}
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			at := strconv.Itoa(number)
			if !s.send(item{source: s.name + ":" + at, id: at, raw: line, err: err}) {
				return
			}
		}
		if done || err != nil && !errors.Is(err, errTooLarge) {
			return
		}
	}
}

// readLine reads a line; of one that is too large it keeps nothing and reads on to its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	over := false
	for {
		chunk, err := r.ReadSlice('\n')
		if over = over || len(line)+len(chunk) > maxItem+2; over {
			line = nil
		} else {
			line = append(line, chunk...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case over && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLarge // the end of the stream is met again by the next call
		default:
			return line, err
		}
	}
}

// mbox yields each mail of a mailbox. A mail begins with a "From " line at the start of the stream or after
// an empty line; the line must either bear a time of day or be followed by a header field, because not
// every program escapes a "From " in the text. Lines that were escaped lose one ">".
func (s splitter) mbox() {
	b := mailbox{splitter: s}
	for {
		if !b.within && b.begins() {
			if !b.flush() {
				return
			}
			b.open, b.filled = true, true
			_, err := readLine(s.r)
			if b.stop(err) {
				return
			}
			continue
		}
		chunk, err := s.r.ReadSlice('\n')
		b.keep(chunk)
		if !errors.Is(err, bufio.ErrBufferFull) && b.stop(err) {
			return
		}
	}
}

// mailbox is the state of reading a mailbox.
type mailbox struct {
	splitter

	mail   []byte // the mail so far
	open   bool   // a mail has begun
	over   bool   // it is too large
	number int    // how many mails were sent
	within bool   // the next bytes continue a line
	filled bool   // the line before the next one is not empty
}

// begins says whether the next line begins a mail.
func (b *mailbox) begins() bool {
	if b.filled {
		return false
	}
	head, _ := b.r.Peek(512)
	line, rest, _ := bytes.Cut(head, []byte("\n"))
	if !bytes.HasPrefix(line, []byte("From ")) {
		return false
	}
	_, _, ok := field(bytes.SplitN(rest, []byte("\n"), 2)[0])
	return isSeparator(line) || ok || !b.open && b.number == 0
}

// isSeparator says whether a line is one that mbox puts before a mail: "From", a sender, a date with a time.
func isSeparator(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("From ")) {
		return false
	}
	for i := 1; i < len(line)-2; i++ {
		if line[i] == ':' && isDigit(line[i-1]) && isDigit(line[i+1]) && isDigit(line[i+2]) {
			return true
		}
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// keep adds what was read to the mail.
func (b *mailbox) keep(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	ends := chunk[len(chunk)-1] == '\n'
	if !b.within {
		b.filled = len(bytes.TrimRight(chunk, "\r\n")) > 0
		if isEnvelope(chunk) && chunk[0] == '>' {
			chunk = chunk[1:]
		}
	}
	b.within = !ends
	if !b.open && !b.filled && !b.within {
		return // empty lines before the first mail
	}
	b.open = true
	if b.over = b.over || len(b.mail)+len(chunk) > maxItem; !b.over {
		b.mail = append(b.mail, chunk...)
	}
}

// stop says whether the stream has come to its end, and sends the last mail then.
func (b *mailbox) stop(err error) bool {
	switch {
	case err == nil, errors.Is(err, errTooLarge):
		return false
	case errors.Is(err, io.EOF):
		b.flush()
	case b.flush():
		b.number++
		b.send(item{source: b.place(), id: strconv.Itoa(b.number), err: err})
	}
	return true
}

func (b *mailbox) place() string { return fmt.Sprintf("%s#%d", b.name, b.number) }

// flush sends the mail that was read, if one was.
func (b *mailbox) flush() bool {
	if !b.open {
		return true
	}
	b.number++
	i := item{source: b.place(), id: strconv.Itoa(b.number), raw: b.mail}
	if b.over {
		i.err = errTooLarge
	}
	b.mail, b.open, b.over = nil, false, false
	return b.send(i)
}
