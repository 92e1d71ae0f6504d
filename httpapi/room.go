package httpapi

import (
	"sync"

	"github.com/signalbox/signalbox/router"
)

// room is what the bodies of all requests may hold together, and the share of
// it that one key and one account may have. It is safe for concurrent use.
type room struct {
	whole, key, account int64 // bounds, in bytes

	mu     sync.Mutex
	held   int64
	shares map[owner]int64 // of those that hold something
}

// owner is whose bodies are counted together.
type owner struct {
	account bool // else a key
	id      string
}

// take sets n bytes aside for a body of p. It returns errNoRoom where all bodies
// together would hold too much, errShare where those of p's key or account
// would, and takes nothing then. A key or an account without a name, as in a
// handler that is open, has no share of its own.
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

// give returns n bytes that take has set aside for p.
func (r *room) give(p *router.Principal, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, account := owner{id: p.KeyHash}, owner{account: true, id: p.Account}
	r.held -= n
	r.set(key, r.shares[key]-n)
	r.set(account, r.shares[account]-n)
}

// set notes what an owner holds, and forgets one that holds nothing any more, so
// that there are never more of them than requests.
func (r *room) set(o owner, n int64) {
	switch {
	case o.id == "":
	case n == 0:
		delete(r.shares, o)
	default:
		r.shares[o] = n
	}
}
