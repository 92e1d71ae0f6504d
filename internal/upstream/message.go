package upstream

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/router"
)

// own holds the header fields of one attempt beyond the client's: a request ID, a trace
// context, and a credential in place of the client's. An empty text is absent.
type own struct {
	requestID, credential, value string
	trace                        router.TraceContext
}

// own returns the attempt's own fields, or an error if a header cannot carry one of
// them.
func (c *Client) own(a *router.Attempt) (own own, err error) {
	if c.requestID != "" {
		own.requestID = a.RequestID
	}
	if !printable(own.requestID) {
		return own, errRequestID
	}
	// A trace is not worth a failed attempt.
	if t := a.Trace; c.sendTrace && printable(t.Parent) && printable(t.State) {
		own.trace = t
	}
	if a.Credential != "" {
		if own.credential, own.value, err = credential(c.auth, c.keyHeader, a.Credential, false); err != nil {
			return own, errCredential
		}
	}
	return own, nil
}

// printable reports whether a header can carry a value.
func printable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' })
}

// headerOf returns the header of an attempt. Without fields of its own it is the
// client's, which must not be changed.
func (c *Client) headerOf(own own) http.Header {
	if own.requestID == "" && own.credential == "" && own.trace.Parent == "" {
		return c.header
	}
	header := maps.Clone(c.header)
	if own.requestID != "" {
		header[c.requestID] = []string{own.requestID}
	}
	if own.trace.Parent != "" {
		header[traceParent] = []string{own.trace.Parent}
		if own.trace.State != "" {
			header[traceState] = []string{own.trace.State}
		}
	}
	if own.credential != "" {
		header.Set(own.credential, own.value)
	}
	return header
}

// message returns a whole request as sent, with the same fields as headerOf.
func (c *Client) message(to Target, own own, body *Buffer) *Buffer {
	m := c.pool.lend()
	m.B = append(append(m.B, to.head...), c.fields...)
	if own.credential != "" {
		m.B = append(m.B, field(own.credential, own.value)...)
	} else {
		m.B = append(m.B, c.shown...)
	}
	if own.requestID != "" {
		m.B = append(m.B, field(c.requestID, own.requestID)...)
	}
	if own.trace.Parent != "" {
		m.B = append(m.B, field(traceParent, own.trace.Parent)...)
		if own.trace.State != "" {
			m.B = append(m.B, field(traceState, own.trace.State)...)
		}
	}
	m.B = append(m.B, "Content-Length: "...)
	m.B = strconv.AppendInt(m.B, int64(len(body.B)), 10)
	m.B = append(m.B, "\r\n\r\n"...)
	m.B = append(m.B, body.B...)
	return m
}

// field returns a header field as sent.
func field(name, value string) string { return name + ": " + value + "\r\n" }

// request builds what http.NewRequest would, without parsing the address again. The
// transport may call GetBody when it finds that a kept connection was closed before
// a byte was written, which is no retry.
func request(ctx context.Context, to Target, header http.Header, data []byte) *http.Request {
	r := &http.Request{
		Method:        http.MethodPost,
		URL:           to.url,
		Host:          to.url.Host,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        header,
		ContentLength: int64(len(data)),
		Body:          io.NopCloser(bytes.NewReader(data)),
		GetBody:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	}
	return r.WithContext(ctx)
}
