package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/router"
)

// preflightSeconds is how long a browser may cache the reply to a preflight.
const preflightSeconds = "7200"

// allowedMethods are the methods of all routes.
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

// allowedHeaders are the headers without the brand that routes read. The reply to a
// preflight names them and the headers that the page asks for. Client libraries send
// headers of their own, and an origin that may send a key may send any header.
const allowedHeaders = "Authorization, Content-Type, Idempotency-Key, X-Api-Key, X-Request-Id, X-Session-Id, Traceparent, Tracestate"

// checkOrigins refuses texts that no browser sends as an origin. Such a text would
// never match, and the operator would not notice.
func checkOrigins(origins []string) error {
	for _, o := range origins {
		u, err := url.Parse(o)
		switch {
		case strings.Contains(o, "*"):
			return fmt.Errorf("%w: Origins: %q: write out each origin without wildcards, because a page of an allowed origin can use its visitors' keys", ErrConfig, o)
		case err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o || o != strings.ToLower(o) || !router.VisibleASCII(o):
			return fmt.Errorf("%w: Origins: %q is not an origin such as https://app.example or http://localhost:3000", ErrConfig, o)
		case u.Scheme == "https" && u.Port() == "443", u.Scheme == "http" && u.Port() == "80":
			return fmt.Errorf("%w: Origins: %q: leave out the default port, as browsers do", ErrConfig, o)
		}
	}
	return nil
}

// exposedHeaders are the headers of a reply that pages may read besides those that
// browsers always expose.
func exposedHeaders(brand string, f fallbackHeaders) string {
	return "X-Request-Id, X-Generation-Id, Idempotent-Replayed, X-Typesafe-Request-Id, " + http.CanonicalHeaderKey("X-"+brand+"-Warnings") +
		", " + strings.Join([]string{f.triggered, f.finalModel, f.primaryModel, f.questions, f.truncated}, ", ") +
		", Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, WWW-Authenticate, Allow"
}

// preflight reports whether the request is a CORS preflight of an allowed origin. The
// reply is the same for every path, even an unknown one. It needs no key, because
// browsers send none with a preflight. The request that follows is checked like any
// other.
func (x *exchange) preflight() bool {
	return x.r.Method == http.MethodOptions && x.r.Header.Get("Access-Control-Request-Method") != "" && x.origin() != ""
}

// origin returns the request's origin if it is in Config.Origins, or "".
func (x *exchange) origin() string {
	sent := x.r.Header["Origin"]
	if len(sent) != 1 || !slices.Contains(x.s.Origins, sent[0]) {
		return ""
	}
	return sent[0]
}

// corsHeaders lets pages of the allowed origins read the reply. It never sets
// Access-Control-Allow-Credentials, because a key is sent in a header, which a page
// must know. A cookie would be added by the browser itself.
func (x *exchange) corsHeaders(h http.Header) {
	if len(x.s.Origins) == 0 {
		return
	}
	vary(h, "Origin")
	origin := x.origin()
	if origin == "" {
		return
	}
	h["Access-Control-Allow-Origin"] = []string{origin}
	if !x.preflight() {
		h["Access-Control-Expose-Headers"] = []string{x.s.exposedHeaders}
		return
	}
	vary(h, "Access-Control-Request-Headers")
	h["Access-Control-Allow-Methods"] = []string{allowedMethods}
	asked := append([]string{allowedHeaders}, x.r.Header["Access-Control-Request-Headers"]...)
	h["Access-Control-Allow-Headers"] = []string{strings.Join(asked, ", ")}
	h["Access-Control-Max-Age"] = []string{preflightSeconds}
}
