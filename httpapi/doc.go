// Package httpapi serves a router over HTTP.
//
// The one thing to know first: a [Handler]'s paths begin at "/", so that any
// mux can mount it under any prefix with http.StripPrefix; the default mount
// is /api/v1. [Handler.Native] is a second handler, for clients of the native
// System One API, to be mounted at /v1. Mount the prefix without its final slash
// too: http.ServeMux redirects it otherwise, with a body that is no JSON.
//
// Every route stands in one table that says which keys it takes, and goes
// through the same steps: request id, credentials, body, work, one write. What
// strangers are told of an error comes from the table in errors.go and never
// from the error's own text; [Status] is the same table for programs.
//
// The package starts no goroutine and opens no listener: timeouts for headers
// and bodies, and connection limits, belong to the embedding program's
// http.Server.
package httpapi
