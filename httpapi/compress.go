package httpapi

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// minCompressed is the smallest reply that is worth compressing: a smaller one
// fits into a packet as it is.
const minCompressed = 1 << 10

// packer compresses replies, one after another.
type packer struct {
	zip *gzip.Writer
	out bytes.Buffer
}

// compresses says whether the reply is compressed: where the caller takes gzip and
// there is enough of it, or it is sent in parts. Decisions stay as they are: they
// are small, and what they wait for is time.
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

// pack compresses the reply. The packer holds it until it is written.
func (x *exchange) pack() *packer {
	p, ok := x.s.packers.Get().(*packer)
	if !ok {
		p = &packer{}
		p.zip, _ = gzip.NewWriterLevel(&p.out, gzip.BestSpeed) // a level that exists
	}
	p.zip.Reset(&p.out)
	_, _ = p.zip.Write(x.out) // a bytes.Buffer takes everything
	_ = p.zip.Close()
	return p
}

// keep keeps the packer for the next reply, unless this one was large.
func (p *packer) keep(s *server) {
	if p.out.Cap() <= keepBuffer {
		p.out.Reset()
		s.packers.Put(p)
	}
}

// takesGzip reads Accept-Encoding: gzip must be named, or be one of any (*), and
// must not be less welcome than no encoding at all.
func takesGzip(lines []string) bool {
	gzipped, identity, rest := -1.0, -1.0, -1.0 // not named
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

// quality splits an element such as "gzip;q=0.5"; a weight that cannot be read
// refuses the element.
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
