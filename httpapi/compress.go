package httpapi

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// minCompressed is the size of the smallest reply that is compressed. A smaller reply
// fits into one packet anyway.
const minCompressed = 1 << 10

// packer compresses one reply at a time and is reused.
type packer struct {
	zip *gzip.Writer
	out bytes.Buffer
}

// compresses reports whether the reply is compressed: if the caller accepts gzip, and
// the reply is large or sent in parts. Decisions are never compressed, because they are
// small and latency matters more.
func (x *exchange) compresses(h http.Header) bool {
	if x.probe.route != nil && x.probe.route.keys == inference {
		return false
	}
	vary(h, "Accept-Encoding")
	if x.parts == nil && len(x.out) < minCompressed || !takesGzip(x.r.Header["Accept-Encoding"]) {
		return false
	}
	h["Content-Encoding"] = []string{"gzip"}
	return true
}

// pack returns the compressed reply in a packer, which must not be reused before the
// reply is written.
func (x *exchange) pack() *packer {
	p, ok := x.s.packers.Get().(*packer)
	if !ok {
		p = &packer{}
		p.zip, _ = gzip.NewWriterLevel(&p.out, gzip.BestSpeed) // the level is valid, so there is no error
	}
	p.zip.Reset(&p.out)
	_, _ = p.zip.Write(x.out) // writing to a bytes.Buffer never fails
	_ = p.zip.Close()
	return p
}

// keep returns the packer for reuse, unless its buffer has grown large.
func (p *packer) keep(s *server) {
	if p.out.Cap() <= keepBuffer {
		p.out.Reset()
		s.packers.Put(p)
	}
}

// takesGzip reports whether Accept-Encoding accepts gzip, by name or by "*", and does
// not prefer an uncompressed reply.
func takesGzip(lines []string) bool {
	gzipped, identity, rest := -1.0, -1.0, -1.0 // -1 is not named
	for v := range values(lines) {
		coding, q := quality(v)
		switch {
		case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
			gzipped = max(gzipped, q)
		case strings.EqualFold(coding, "identity"):
			identity = q
		case coding == "*":
			rest = q
		}
	}
	if gzipped < 0 {
		gzipped = rest
	}
	return gzipped > 0 && gzipped >= identity
}

// quality splits an element such as "gzip;q=0.5" into coding and weight. An invalid
// weight is 0, which refuses the coding.
func quality(element string) (coding string, q float64) {
	coding, parameter, weighted := strings.Cut(element, ";")
	coding = strings.TrimSpace(coding)
	if !weighted {
		return coding, 1
	}
	name, value, _ := strings.Cut(parameter, "=")
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if !strings.EqualFold(strings.TrimSpace(name), "q") || err != nil || !(q >= 0 && q <= 1) {
		return coding, 0
	}
	return coding, q
}
