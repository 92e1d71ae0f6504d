package httpapi

import (
	"sync"

	"github.com/signalbox/signalbox/router"
)

// room bounds the bytes that the bodies of all requests hold together, and the share of
// each key and each account. It is safe for concurrent use.
type room struct {
	whole, key, account int64 // bounds, in bytes

	mu     sync.Mutex
	held   int64
	shares map[owner]int64 // of keys and accounts that hold bytes
}

// owner is a key or an account, whose bodies are counted together.
type owner struct {
	account bool // otherwise a key
	id      string
}

// take reserves n bytes for a body of p. It returns errNoRoom if all bodies together
// would hold too much, and errShare if those of p's key or account would. With an error
// it reserves nothing. A key or an account without a name, as in an open handler, has
// no share.
func (r *room) take(p *router.Principal, n int64) error {
	key, account := owner{id: p.KeyHash}, owner{account: true, id: p.Account}
	r.mu.Lock()
	defer r.mu.Unlock()
	ofKey, ofAccount := r.shares[key], r.shares[account]
	switch {
	case r.held > r.whole-n:
		return errNoRoom
	case key.id != "" && ofKey > r.key-n, account.id != "" && ofAccount > r.account-n:
		return errShare
	}
	r.held += n
	r.set(key, ofKey+n)
	r.set(account, ofAccount+n)
	return nil
}

// give returns n bytes that take has reserved for p.
func (r *room) give(p *router.Principal, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, account := owner{id: p.KeyHash}, owner{account: true, id: p.Account}
	r.held -= n
	r.set(key, r.shares[key]-n)
	r.set(account, r.shares[account]-n)
}

// set stores what an owner holds. It deletes an owner that holds nothing, so that there
// are at most two owners for each request.
func (r *room) set(o owner, n int64) {
	switch {
	case o.id == "":
	case n == 0:
		delete(r.shares, o)
	default:
		r.shares[o] = n
	}
}
