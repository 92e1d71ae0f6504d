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
	userKey []byte

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

// hashedUser is the HMAC-SHA-256 of account and user. A user has the same hash in
// all requests of an account, but no upstream can identify it or compare users
// between accounts. Without a user key it is "".
func (o *outgoing) hashedUser() string {
	user := o.call.Request.User
	if o.user != "" || user == "" || len(o.userKey) == 0 {
		return o.user
	}
	account := o.call.Principal.Account
	mac := hmac.New(sha256.New, o.userKey)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(account))))
	mac.Write([]byte(account))
	mac.Write([]byte(user))
	o.user = hex.EncodeToString(mac.Sum(nil))
	return o.user
}
