// Package keys authenticates the callers of a router by API keys.
//
// The one thing to know first: a key's text is shown once, when it is made,
// and stored nowhere. What is stored is its SHA-256, which is also the key's
// public id.
//
// [Service] is what programs hold and is safe for concurrent use; [Store] is
// what storage implements. [Service.Intercept] puts authentication in front of
// a router that is used in process; over HTTP, httpapi authenticates before it
// reads a body, and the same interceptor then only checks the kind of key.
package keys
