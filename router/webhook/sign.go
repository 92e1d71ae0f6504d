package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Headers of a delivery.
const (
	HeaderID        = "Webhook-Id"        // the event's ID
	HeaderTimestamp = "Webhook-Timestamp" // of the attempt, in seconds since 1970
	HeaderSignature = "Webhook-Signature" // one "v1,…" for each secret, separated by spaces
)

const (
	secretPrefix = "whsec_"
	// Bounds of a secret's bytes, from the specification.
	minSecret, maxSecret = 24, 64
	// Tolerance is how old a delivery may be, or how far in the future, for [Verify].
	Tolerance = 5 * time.Minute
)

// ErrSignature is returned by [Verify] for a delivery that is not genuine, or too old.
var ErrSignature = errors.New("webhook: the signature does not fit")

// key decodes a secret. Its errors do not contain it.
func key(secret router.Secret) ([]byte, error) {
	text, ok := strings.CutPrefix(string(secret), secretPrefix)
	if !ok {
		return nil, fmt.Errorf("must begin with %s", secretPrefix)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("must be base64 after %s", secretPrefix)
	}
	if len(raw) < minSecret || len(raw) > maxSecret {
		return nil, fmt.Errorf("must have %d to %d bytes", minSecret, maxSecret)
	}
	return raw, nil
}

func keysOf(secrets []router.Secret) ([][]byte, error) {
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		var err error
		if keys[i], err = key(secret); err != nil {
			return nil, fmt.Errorf("secret %d %w", i, err)
		}
	}
	return keys, nil
}

// sign returns the HMAC of a delivery.
func sign(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// signatures returns the value of HeaderSignature.
func signatures(keys [][]byte, id, timestamp string, body []byte) string {
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = "v1," + base64.StdEncoding.EncodeToString(sign(key, id, timestamp, body))
	}
	return strings.Join(list, " ")
}

// Verify reports whether a delivery was signed with one of these secrets within
// [Tolerance] of now. It is for receivers in Go: body is the request's body, byte for
// byte. It returns an error that wraps [ErrSignature], or one that says which secret is
// malformed. Receivers must also drop deliveries whose [HeaderID] they have handled.
func Verify(secrets []router.Secret, header http.Header, body []byte, now time.Time) error {
	keys, err := keysOf(secrets)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	timestamp := header.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: no timestamp", ErrSignature)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return fmt.Errorf("%w: the timestamp is more than %s away", ErrSignature, Tolerance)
	}
	for given := range strings.FieldsSeq(header.Get(HeaderSignature)) {
		text, ok := strings.CutPrefix(given, "v1,")
		mac, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil {
			continue
		}
		for _, key := range keys {
			if hmac.Equal(mac, sign(key, header.Get(HeaderID), timestamp, body)) {
				return nil
			}
		}
	}
	return ErrSignature
}
