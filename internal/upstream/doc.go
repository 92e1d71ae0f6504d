// Package upstream is the floor that the HTTP clients of upstream services
// share: how an upstream is reached, how much of it is read, and how its
// failures are classed.
//
// The one thing to know first: an upstream is hostile input. Its address is
// fixed when a client is made and nothing of a request can change it, redirects
// are never followed, every body is read up to a cap, and no text of an
// upstream ever stands in an error.
//
// Addresses come from the operator, so plain http and loopback are allowed and
// there is no guard against private addresses: whoever may write the
// configuration may already reach them.
package upstream
