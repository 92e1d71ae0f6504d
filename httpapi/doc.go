// Package httpapi serves a router over HTTP.
//
// The paths of a [Handler] begin at "/", so that any mux can mount it under any prefix
// with http.StripPrefix; the default mount is /api/v1. [Handler.Native] is a second
// handler, for clients of the native System One API, to be mounted at /v1.
// [Handler.Alpha] is a third one, for clients that expect /api/alpha. Mount each prefix
// without its final slash too. http.ServeMux redirects that path otherwise, with a body
// that is not JSON.
//
// Decisions have two doors. POST /systemone takes the System One dialect. POST
// /decisions, under both /api/v1 and /v1, takes the Decisions dialect of OpenAI: the same
// questions in another form, with that dialect's replies, refusals and errors.
// docs/openapi.yaml describes both, and docs/adr/0039-two-dialects.md has the reasons.
//
// Every route is an entry of a table, which names the keys that the route takes. Every
// request takes the same steps: request id, credentials, body, work, one write. What a
// reply says of an error comes from the table in errors.go, never from the error's own
// text. [Status] returns the status in that table.
//
// Callers authenticate with keys ([Authenticator]), or by a sign-in of the embedding
// program, such as single sign-on (SignIn in [Config]).
//
// The metadata that a caller asks for describe every leg of a call and say of each
// answer where it comes from. A reply to which a stage behind the first contributed says
// so in headers as well. The names of both carry the word Brand of [Config].
//
// A caller who closes the connection cancels the request, and pays for the running
// attempt as router.Config.Abandoned says. Closing only the sending side (SHUT_WR, as
// nc -N does) cancels it too, because net/http cannot tell the two apart. So keep the
// connection open until the reply has come. A request with an Idempotency-Key runs to
// its end instead, and its reply is kept for the retry, if the router's Ledger is a
// router.Replies. With any other Ledger the header has no effect.
//
// The package opens no listener, and none of its goroutines outlives the request.
// Timeouts for headers and bodies, and limits on connections, belong to the http.Server
// of the embedding program. The memory of all request bodies together is bounded here,
// see [Config].
package httpapi
