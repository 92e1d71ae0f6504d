package httpapi

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"math"
	"mime"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// checkContent refuses a body whose headers declare anything but JSON in UTF-8, plain
// or gzip. It reports whether the body is gzip.
func checkContent(h http.Header) (zipped bool, err error) {
	for _, v := range h["Content-Type"] {
		if v == "application/json" || v == "" {
			continue
		}
		media, parameters, err := mime.ParseMediaType(v)
		malformed := errors.Is(err, mime.ErrInvalidMediaParameter)
		if media != "application/json" || err != nil && !malformed {
			return false, badRequest("content-type", "the body must be application/json")
		}
		charset := parameters["charset"]
		if malformed { // the media type is known, but a charset may be hidden in the rest
			charset = looseCharset(v)
		}
		if charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "utf8") {
			return false, badRequest("content-type", "the charset must be utf-8")
		}
	}
	for v := range values(h["Content-Encoding"]) {
		switch {
		case strings.EqualFold(v, "identity"):
		case !strings.EqualFold(v, "gzip") && !strings.EqualFold(v, "x-gzip"):
			return false, badRequest("content-encoding", "must be gzip, or absent")
		case zipped:
			return false, badRequest("content-encoding", "gzip may be applied only once")
		default:
			zipped = true
		}
	}
	return zipped, nil
}

// looseCharset returns the charset of a content type whose parameters cannot be parsed,
// or "".
func looseCharset(contentType string) string {
	for parameter := range strings.SplitSeq(contentType, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		value = strings.Trim(value, " \t\"'")
		if strings.EqualFold(strings.TrimSpace(name), "charset") && value != "" {
			return value
		}
	}
	return ""
}

// values yields the non-empty elements of a comma-separated header.
func values(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for v := range strings.SplitSeq(line, ",") {
				if v = strings.Trim(v, " \t"); v != "" && !yield(v) {
					return
				}
			}
		}
	}
}

// unpack returns a reader of the decompressed body. The caller bounds what it reads by
// MaxBytes. The compressed bytes may exceed MaxBytes by as much as gzip adds to
// incompressible data.
func (x *exchange) unpack(body io.Reader) io.Reader {
	most := min(x.s.MaxBytes, math.MaxInt64/2)
	return &unpacker{sent: bounded{r: body, left: most + most/64 + 1<<10}}
}

const (
	// maxRatio is how many times larger a body may be than its gzip form. Text shrinks
	// to about a tenth; deflate can reach a factor of one thousand.
	maxRatio = 100
	// unpackBytes is the memory that decompression needs, for its window and tables.
	unpackBytes = 48 << 10
)

// unpacker reads a gzip body of one or more members.
type unpacker struct {
	sent bounded
	zip  *gzip.Reader // nil before the first Read
	out  int64
}

// Read fails as soon as more than maxRatio bytes have come out for each byte read from
// the body. Of the bytes read, up to 4 KiB may still wait to be decompressed.
func (u *unpacker) Read(p []byte) (n int, err error) {
	if u.zip == nil {
		if u.zip, err = gzip.NewReader(&u.sent); errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // an empty body is not valid gzip
		}
	}
	if err == nil {
		n, err = u.zip.Read(p)
		u.out += int64(n)
	}
	if u.out > maxRatio*u.sent.n {
		return n, badRequest("content-encoding", "the body must not be more than 100 times as large as its gzip form")
	}
	return n, err
}

// bounded counts the bytes that are read, up to a bound.
type bounded struct {
	r       io.Reader
	n, left int64
}

// Read returns errTooLarge once more bytes than the bound have been read.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}

// unread returns the refusal of a body that could not be read to its end. read is the
// number of its bytes that were read.
func (x *exchange) unread(err error, read int) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	_, told := errors.AsType[*systemone.InvalidError](err)
	switch {
	case told, errors.Is(err, errTooLarge), errors.Is(err, errNoRoom), errors.Is(err, errShare):
		return x.refuse(err, read)
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return x.refuse(badRequest("content-encoding", "the body is not valid gzip"), read)
	}
	return badRequest("", "the body could not be read to its end")
}

// withoutBOM drops the byte order mark that some editors put before UTF-8 text.
func withoutBOM(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }
