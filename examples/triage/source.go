package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// stdinName is how standard input is asked for.
const stdinName = "-"

// items finds the items of all files, in order. A file that cannot be read is an item that failed.
func (o options) items(ctx context.Context, stdin io.Reader) iter.Seq[item] {
	return func(yield func(item) bool) {
		for _, name := range o.files {
			open := func() (io.ReadCloser, error) { return os.Open(name) } //nolint:gosec // the user names the file
			if name == stdinName {
				name, open = "stdin", func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
			}
			within, shut := context.WithCancel(ctx) // a file need not be read to its end
			stopped := false
			o.file(name, interruptible(within, open), func(i item) bool {
				stopped = !yield(i)
				return !stopped
			})
			shut()
			if stopped || ctx.Err() != nil {
				return
			}
		}
	}
}

// file finds the items of one file.
func (o options) file(name string, r io.Reader, yield func(item) bool) {
	buffered, err := transcode(r)
	if err != nil {
		if failure, ok := errors.AsType[*fs.PathError](err); ok {
			err = failure.Err // the place names the file
		}
		yield(item{source: name, id: filepath.Base(name), err: err})
		return
	}
	kind := o.format
	if kind == formatAuto {
		head, _ := buffered.Peek(sniffed) // what cannot be read is met again by the splitter
		kind = detect(name, head)
	}
	s := splitter{name: name, r: buffered, parse: o.parser(kind), yield: yield}
	switch kind {
	case formatLines:
		s.lines()
	case formatMbox:
		s.mbox()
	default:
		s.one(filepath.Base(name))
	}
}

// sniffed is how much of a file is looked at to tell its format, and is read at once.
const sniffed = 64 << 10

// transcode reads past the byte order mark of UTF-8 and turns a stream with one of UTF-16 into UTF-8, so
// that also what other systems write as JSON Lines can be read.
func transcode(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, sniffed)
	mark, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if order, marked := utf16Mark(mark); marked {
		decoder := unicode.UTF16(order, unicode.UseBOM).NewDecoder()
		return bufio.NewReaderSize(decoder.Reader(in), sniffed), nil
	}
	if first, size := utf8.DecodeRune(mark); first == '\ufeff' {
		if _, err := in.Discard(size); err != nil {
			return nil, fmt.Errorf("skip the byte order mark: %w", err)
		}
	}
	return in, nil
}
