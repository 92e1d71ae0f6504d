package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/router"
)

// preflightSeconds is how long a browser may remember what a preflight said.
const preflightSeconds = "7200"

// allowedMethods are all that any route has.
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

// allowedHeaders are those without the brand that some route reads. A preflight gets
// them and what the page asks for besides: client libraries send headers of
// their own, and an origin that may send a key may send those.
const allowedHeaders = "Authorization, Content-Type, Idempotency-Key, X-Api-Key, X-Request-Id, X-Session-Id"

// checkOrigins refuses texts that no browser sends as an origin. They would match
// no page, and the operator would not learn why.
func checkOrigins(origins []string) error {
	for _, o := range origins {
		u, err := url.Parse(o)
		switch {
		case strings.Contains(o, "*"):
			return fmt.Errorf("%w: Origins: %q: each origin is named whole, because a page that is let in can use its visitors' keys", ErrConfig, o)
		case err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != o || o != strings.ToLower(o) || !router.VisibleASCII(o):
			return fmt.Errorf("%w: Origins: %q is not an origin such as https://app.example or http://localhost:3000", ErrConfig, o)
		case u.Scheme == "https" && u.Port() == "443", u.Scheme == "http" && u.Port() == "80":
			return fmt.Errorf("%w: Origins: %q: browsers leave out the usual port", ErrConfig, o)
		}
	}
	return nil
}

// exposedHeaders are what pages may read of a reply, besides what they always
// may.
func exposedHeaders(brand string) string {
	return "X-Request-Id, X-Generation-Id, Idempotent-Replayed, X-Typesafe-Request-Id, " + http.CanonicalHeaderKey("X-"+brand+"-Warnings") +
		", Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, WWW-Authenticate, Allow"
}

// preflight reports whether the request is a CORS preflight of a named origin. The
// answer is the same for every path, known or not, and needs no key, because
// browsers send none with it. The request that follows is checked like any other.
func (x *exchange) preflight() bool {
	return x.r.Method == http.MethodOptions && x.r.Header.Get("Access-Control-Request-Method") != "" && x.origin() != ""
}

// origin returns the request's origin if it is one of those named, or "".
func (x *exchange) origin() string {
	sent := x.r.Header["Origin"]
	if len(sent) != 1 || !slices.Contains(x.s.Origins, sent[0]) {
		return ""
	}
	return sent[0]
}

// corsHeaders lets pages of the named origins read the reply. There is no
// Access-Control-Allow-Credentials: a key stands in a header, which a page has to
// know, and never in a cookie, which a browser would add by itself.
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
