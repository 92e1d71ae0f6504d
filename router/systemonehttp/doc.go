// Package systemonehttp is the client of every upstream that speaks the System One
// dialect: a state and named questions in, one answer for each name out.
//
// The one thing to know first: the differences between these upstreams are data, a
// [Profile], not code. [Profiles] lists the ready ones; for any other upstream
// start from [Canonical] and change what differs. [Client.Endpoint] makes an
// endpoint of the upstream for a catalog.
//
// The client sends the model, the state and the questions in the order of the
// request. Beyond that it sends only what its profile names: options of the caller
// that the upstream knows, and the keyed hash of the caller's user. It returns
// answers unchecked, because the router checks them. It never retries, never
// follows a redirect and never quotes the upstream in an error.
package systemonehttp
