package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// reply is the upstream's reply to [request].
const reply = `{"model":"judge-1","answers":{` +
	`"refund":{"type":"noul","noul":0.97},` +
	`"desk":{"type":"choice","choice":"billing","probabilities":{"billing":0.95,"technical":0.03,"sales":0.02},"confidence":0.9},` +
	`"anger":{"type":"score","score":0.72,"legend":{"0":"calm","1":"annoyed","2":"furious"},"probabilities":{"0":0.3,"1":0.68,"2":0.02},"confidence":0.52}},` +
	`"usage":{"input_tokens":310,"output_tokens":3}}`

// upstream returns a handler with a constant reply.
func upstream() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, reply)
	})
}

// proxy returns the gateway to compare with: the standard library's reverse proxy, with
// an idle connection for every caller.
func proxy(target string) http.Handler {
	transport := &http.Transport{MaxIdleConns: 100, MaxIdleConnsPerHost: 100, IdleConnTimeout: time.Minute}
	to := &url.URL{Scheme: "http", Host: target}
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
	}
}

// listen serves h on a free port, prints the address and stops with ctx.
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
