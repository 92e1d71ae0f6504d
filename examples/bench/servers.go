package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// reply is the upstream's answer to every [request].
const reply = `{"model":"judge-1","answers":{` +
	`"refund":{"type":"noul","noul":0.97},` +
	`"desk":{"type":"choice","choice":"billing","probabilities":{"billing":0.95,"technical":0.03,"sales":0.02},"confidence":0.9},` +
	`"anger":{"type":"score","score":0.72,"legend":{"0":"calm","1":"annoyed","2":"furious"},"probabilities":{"0":0.3,"1":0.68,"2":0.02},"confidence":0.52}},` +
	`"usage":{"input_tokens":310,"output_tokens":3}}`

// upstream returns a handler that always sends reply.
func upstream() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	})
}

// late returns upstream with a delay before each reply.
func late(delay time.Duration) http.Handler {
	answer := upstream()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		select {
		case <-time.After(delay):
			answer.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// floorGCPercent is the GOGC of examples/server.
const floorGCPercent = 400

// floor is the minimum that a gateway on net/http must do: it reads the body, forwards
// it over a kept-alive connection, and writes the reply. It has no checks and no
// limits. It is safe for concurrent use.
type floor struct {
	target string

	mu   sync.Mutex
	idle []*floorConn // the last one was used most recently
}

// floorConn is a connection to the upstream.
type floorConn struct {
	net.Conn
	in  *bufio.Reader
	out bytes.Buffer
}

// ServeHTTP forwards one request.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	answer, err := f.ask(r.Context(), body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(answer))}
	_, _ = w.Write(answer)
}

func (f *floor) ask(ctx context.Context, body []byte) ([]byte, error) {
	c, err := f.take(ctx)
	if err != nil {
		return nil, err
	}
	c.out.Reset()
	_, _ = fmt.Fprintf(&c.out, "POST /v1/systemone HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		f.target, len(body))
	c.out.Write(body)
	answer, err := c.ask()
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = append(f.idle, c)
	return answer, nil
}

func (c *floorConn) ask() ([]byte, error) {
	if _, err := c.Write(c.out.Bytes()); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end, or the connection is closed
	return io.ReadAll(resp.Body)
}

// take returns an idle connection, or a new one if none is idle.
func (f *floor) take(ctx context.Context) (*floorConn, error) {
	f.mu.Lock()
	if last := len(f.idle) - 1; last >= 0 {
		c := f.idle[last]
		f.idle = f.idle[:last]
		f.mu.Unlock()
		return c, nil
	}
	f.mu.Unlock()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", f.target)
	if err != nil {
		return nil, err
	}
	return &floorConn{Conn: conn, in: bufio.NewReader(conn)}, nil
}

// proxy returns the standard library's reverse proxy, with enough idle connections for
// all callers.
func proxy(target string) http.Handler {
	transport := &http.Transport{MaxIdleConns: 100, MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute}
	to := &url.URL{Scheme: "http", Host: target}
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
	}
}

// listen serves h on a free port and prints the address. It stops when ctx ends.
func listen(ctx context.Context, h http.Handler, out io.Writer) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	err = server.Close()
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}
