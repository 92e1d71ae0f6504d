package upstream

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/router"
)

// parseBase checks the address of an upstream, up to and including its version. Its
// errors never quote the address, because a wrong address may contain a secret.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, configError("base URL cannot be parsed")
	}
	switch {
	case text == "":
		return nil, configError("base URL is missing")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, configError("base URL must begin with https:// or http://")
	case u.User != nil:
		return nil, configError("base URL must not hold credentials")
	case u.RawQuery != "" || u.ForceQuery:
		return nil, configError("base URL must not have a query")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, configError("base URL must not have a fragment")
	case u.Hostname() == "":
		return nil, configError("base URL names no host")
	case !validPort(u.Port()):
		return nil, configError("base URL has no valid port")
	case !plainPath(u.EscapedPath()):
		return nil, configError("base URL has an unusual path")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// plainPath reports whether all parsers read a path equally.
func plainPath(path string) bool {
	for i := range len(path) {
		if !plainByte(path[i]) {
			return false
		}
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/@._~:-", c) >= 0
}

// Auth says how a credential is sent to an upstream.
type Auth string

// Every value of Auth.
const (
	AuthBearer Auth = "bearer" // Authorization: Bearer KEY
	AuthHeader Auth = "header" // the key alone, in a header of its own
	AuthBasic  Auth = "basic"  // Authorization: Basic; the key is user:password or its base64 form
	AuthNone   Auth = "none"   // no credential at all
)

// credential returns the header that carries key, or "" for none.
func credential(auth Auth, header string, key router.Secret, optional bool) (name, value string, err error) {
	text := string(key)
	switch {
	case auth == AuthNone && text != "":
		return "", "", configError("an API key is given to an upstream that takes none")
	case auth == AuthNone, text == "" && optional:
		return "", "", nil
	case text == "":
		return "", "", configError("API key is missing")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", "", configError("API key has a space, a line break or another character that cannot stand in a header")
	}
	switch auth {
	case AuthBearer:
		return "Authorization", "Bearer " + text, nil
	case AuthHeader:
		if !plainHeader(header) {
			return "", "", configError("no header is named for the API key, or one that cannot carry it")
		}
		return header, text, nil
	case AuthBasic:
		// A colon separates user and password and is no base64 digit, so a text
		// with one is not encoded yet.
		if strings.Contains(text, ":") {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		return "Authorization", "Basic " + text, nil
	default:
		return "", "", configError("unknown way to show an API key")
	}
}

// plainHeader reports whether a header may carry one of our values: its name can be
// sent, and it controls neither the message nor the connection.
func plainHeader(name string) bool {
	if strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(tokenRunes, r) }) {
		return false
	}
	switch http.CanonicalHeaderKey(name) {
	case "", "Connection", "Content-Length", "Expect", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return false
	}
	return true
}

// tokenRunes are the characters of a header's name.
const tokenRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-!#$%&'*+.^_`|~"

func configError(what string) error {
	return fmt.Errorf("upstream: %w: %w", router.ErrConfig, errors.New(what))
}
