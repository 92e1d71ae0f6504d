// Package keys authenticates the callers of a router by API keys.
//
// The one thing to know first: a key's text is returned once, by
// [Service.Create], and never stored. The store has its SHA-256, which is also the
// public id of the key.
//
// Programs use [Service]; storage implements [Store]. [Service.Intercept]
// authenticates the calls of a router that is used in process. Over HTTP, httpapi
// authenticates before it reads a body, and the same interceptor then only looks
// the key up.
//
// [Credentials] is about the opposite direction: it keeps the accounts' own
// credentials at providers, sealed, and adds them to their calls.
package keys
