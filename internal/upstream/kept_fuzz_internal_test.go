//go:build unix

package upstream

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canned is a connection to an upstream that waits for a request, whatever it
// is, answers data in pieces of at most step bytes, and ends.
type canned struct {
	data  []byte
	step  int
	asked chan struct{}
	once  sync.Once
}

func newCanned(data []byte, step uint8) *canned {
	return &canned{data: data, step: 1 + int(step)*16, asked: make(chan struct{})}
}

func (c *canned) Read(p []byte) (int, error) {
	<-c.asked
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.step)], c.data)
	c.data = c.data[n:]
	return n, nil
}

func (c *canned) Write(p []byte) (int, error) {
	c.once.Do(func() { close(c.asked) })
	return len(p), nil
}

func (c *canned) Close() error {
	c.once.Do(func() { close(c.asked) })
	return nil
}

// look is what looker would report without the end of the connection.
func (c *canned) look() error {
	select {
	case <-c.asked:
		if len(c.data) > 0 {
			return errNotQuiet
		}
	default:
	}
	return nil
}

func (*canned) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*canned) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*canned) SetDeadline(time.Time) error      { return nil }
func (*canned) SetReadDeadline(time.Time) error  { return nil }
func (*canned) SetWriteDeadline(time.Time) error { return nil }

// taken is what a client reads from the bytes of an upstream.
type taken struct {
	status int
	header http.Header
	body   string
	whole  bool // the reply was read to its end
}

func take(resp *http.Response, err error) taken {
	if err != nil {
		return taken{}
	}
	defer resp.Body.Close() //nolint:errcheck // nothing to learn
	got := taken{status: resp.StatusCode, header: resp.Header}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return got // what follows is no body and is not read
	}
	body, err := io.ReadAll(resp.Body)
	got.body, got.whole = string(body), err == nil
	return got
}

// reusable says by the specification whether a connection with these bytes, a reply
// that was read to its end, may carry another request.
func reusable(t *testing.T, data []byte) bool {
	t.Helper()
	in := bytes.NewReader(data)
	r := bufio.NewReader(in)
	resp, err := http.ReadResponse(r, nil) //nolint:bodyclose // read to its end from memory
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	head, _, _ := bytes.Cut(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	head = bytes.ToLower(append(head, '\n'))
	twice := bytes.Contains(head, []byte("\ncontent-length:")) && bytes.Contains(head, []byte("\ntransfer-encoding:"))
	return resp.StatusCode == http.StatusOK && resp.ProtoAtLeast(1, 1) && !resp.Close && !twice &&
		len(resp.Trailer) == 0 && r.Buffered()+in.Len() == 0
}

// FuzzKept: for any bytes, a kept reads the same reply as an http.Transport, and
// reuses the connection only where nothing can be left on it.
func FuzzKept(f *testing.F) {
	for _, s := range []string{
		reply("body"), reply("") + reply("stray"),
		"HTTP/1.1 200 OK\r\n\r\nuntil the end",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 \r\nContent-Length: 7\r\n\r\n" + reply("body"),
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" + reply("body"),
		"HTTP/1.1 099 Odd\r\nContent-Length: 38\r\n\r\n" + reply("stray"),
		"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=\"b\"\r\nbody\r\n0\r\nX-Late: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n4 \r\nbody\r\n000\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\nbody\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nbody\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody!",
		"HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length:  4 \r\n\r\nbody",
		"HTTP/1.1 200 OK\r\nContent-Length: 0x4\r\n\r\nbody",
		"HTTP/1.1 200 OK\nContent-Length: 4\n\nbody",
		"HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/2.0 200 OK\r\nContent-Length: 4\r\n\r\nbody",
		"HTTP/0.9 200 OK\r\nContent-Length: 4\r\n\r\nbody",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(255))
	}
	discardLog(f)
	base := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	to := Target{url: base, head: "POST / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		far := newCanned(data, step)
		k := newKept(base)
		c := &keptConn{Conn: far, home: k, look: far.look}
		c.in = bufio.NewReader(c)
		k.idle = append(k.idle, c)
		k.sweeping = true // no timer for each input
		got := take(postOn(t.Context(), k, to, "{}"))

		theirs := NewTransport()
		theirs.DialContext = func(context.Context, string, string) (net.Conn, error) { return newCanned(data, step), nil }
		want := take(theirs.RoundTrip(request(t.Context(), to, http.Header{}, []byte("{}"))))
		theirs.CloseIdleConnections()
		assert.Equal(t, want, got)

		if back := k.pop(); back != nil && back.quiet() {
			assert.True(t, got.whole, "given back before its end")
			assert.True(t, reusable(t, data), "given back with something on it")
		}
	})
}
