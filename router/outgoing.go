package router

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// outgoing builds what providers get of a call, which is only what they need. What
// several attempts of a leg share is built once.
type outgoing struct {
	call    *Call
	sheet   *systemone.Request // the call's, with the questions of a leg
	catalog *Catalog

	whole, unwrapped *systemone.Request
	user             string
}

func (o *outgoing) attempt(s *served, own *Credential, deadline time.Time) Attempt {
	a := Attempt{
		Request:   o.request(s.endpoint.Limits.Parts),
		Model:     s.endpoint.UpstreamModel,
		Options:   o.catalog.Options(o.sheet.Provider, s.endpoint),
		RequestID: o.call.RequestID,
		Deadline:  deadline,
	}
	if own != nil {
		a.Credential = own.Secret
	}
	if slices.Contains(s.endpoint.Parameters, "user") {
		a.User = o.hashedUser()
	}
	return a
}

// request returns the part of the request that goes to a provider, with the state's
// parts kept or unwrapped.
func (o *outgoing) request(parts bool) *systemone.Request {
	to, state := &o.whole, o.sheet.State
	if !parts {
		to = &o.unwrapped
	}
	if *to == nil {
		if !parts {
			state = systemone.UnwrapParts(state)
		}
		*to = &systemone.Request{Dialect: o.sheet.Dialect, State: state, Questions: o.sheet.Questions}
	}
	return *to
}

// hashedUser is [Call.HashedUser], which all attempts of a leg share.
func (o *outgoing) hashedUser() string {
	if o.user == "" {
		o.user = o.call.HashedUser()
	}
	return o.user
}

// HashedUser returns the HMAC-SHA-256 of the call's account and user in hex, with the
// key of [Config.UserKey]. It is "" without a user or a key, and before
// [Router.Decide]. A user has the same hash in all requests of an account, but no
// reader of it can identify the user or compare users between accounts.
func (c *Call) HashedUser() string {
	user := c.Request.User
	if user == "" || len(c.userKey) == 0 {
		return ""
	}
	account := c.Principal.Account
	mac := hmac.New(sha256.New, c.userKey)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(account))))
	mac.Write([]byte(account))
	mac.Write([]byte(user))
	return hex.EncodeToString(mac.Sum(nil))
}
