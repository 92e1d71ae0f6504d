// Package httpapi serves a router over HTTP.
//
// The one thing to know first: a [Handler]'s paths begin at "/", so that any
// mux can mount it under any prefix with http.StripPrefix; the default mount
// is /api/v1. [Handler.Native] is a second handler, for clients of the native
// System One API, to be mounted at /v1, and [Handler.Alpha] a third one for
// clients that expect /api/alpha. Mount the prefix without its final slash
// too: http.ServeMux redirects it otherwise, with a body that is no JSON.
//
// Every route stands in one table that says which keys it takes, and goes
// through the same steps: request id, credentials, body, work, one write. What
// strangers are told of an error comes from the table in errors.go and never
// from the error's own text; [Status] is the same table for programs.
//
// Callers are known by their keys ([Authenticator]), or by a sign-in of the program's
// own, such as single sign-on (SignIn in [Config]).
//
// A caller who hangs up cancels the request, and pays for the attempt that was
// running as router.Config.Abandoned says. One who closes only its sending side
// after the request (SHUT_WR, as nc -N does) has hung up too: net/http cannot
// tell the two apart, so keep the connection open until the reply came. A request
// with an Idempotency-Key goes on to its end instead, and its reply waits for the
// retry, where the router's Ledger is a router.Replies; else the header does nothing.
//
// The package opens no listener and starts no goroutine that outlives its
// request: timeouts for headers and bodies, and connection limits, belong to
// the embedding program's http.Server. What bodies hold together is bounded
// here, see [Config].
package httpapi
