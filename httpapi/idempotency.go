package httpapi

import (
	"crypto/sha256"

	"github.com/signalbox/signalbox/router"
)

// idempotency returns the Idempotency-Key of a request with this body, or nil if there
// is none. A retry must have the same body, route and surface. The surface stands in
// for the full path, because no handler knows where it is mounted.
func (x *exchange) idempotency(body []byte) (*router.Idempotency, error) {
	sent, ok := x.r.Header["Idempotency-Key"]
	switch {
	case !ok:
		return nil, nil //nolint:nilnil // no key is valid
	case len(sent) != 1 || !router.VisibleASCII(sent[0]):
		return nil, badRequest("idempotency-key", "send one Idempotency-Key of 1 to 128 visible ASCII characters")
	}
	digest := sha256.New()
	digest.Write([]byte(x.s.name + x.probe.route.path + "\n"))
	digest.Write(body)
	once := &router.Idempotency{Key: sent[0]}
	digest.Sum(once.Digest[:0])
	return once, nil
}
