// Package systemonehttp is the client of every upstream that speaks the System
// One dialect: a state and named questions in, one answer for each name out.
//
// The one thing to know first: what differs between those upstreams is data, a
// [Profile], not code. [Profiles] lists the ready ones; for an upstream that is
// not among them start from [Canonical] and change what differs. [Client.Endpoint]
// describes the upstream for a catalog.
//
// The client sends the model, the state and the questions in the order of the
// request, and beyond that only what its profile knows: options of the caller
// that the upstream understands, and the keyed hash of the caller's user. It
// reports answers as they came; the router checks them. It never retries,
// never follows a redirect and never repeats a text of the upstream in an
// error.
package systemonehttp
