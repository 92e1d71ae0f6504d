// Package routertest helps to test code around a router.Provider, and providers.
//
// For programs that embed the router there is [Script], a provider that answers
// from a script, or sensibly when it has none:
//
//	catalog, err := routertest.Catalog(&routertest.Script{})
//	r, err := router.New(router.Config{Catalog: catalog})
//	result, err := r.Decide(ctx, &router.Call{Request: request})
//
// Answers are scripted by question. They are checked, and a mistake fails the test:
//
//	script := routertest.NewScript(t, routertest.Step{Answers: []routertest.Answer{
//		routertest.Choose("desk", "billing", 0.9), routertest.Yes("refund", 0.8), routertest.Rate("heat", 2, 0.7),
//	}})
//
// [Catalog] serves one model, [Model]. For another model make the catalog with
//
//	catalog, err := router.Single(script, router.Endpoint{Provider: "acme", Model: "typesafe/jev-1.13"})
//
// The package imports testing and testify, so import it only in tests.
//
// For authors of providers there is the suite that every provider of this library
// passes. [Run] tests a provider that reaches its upstream by HTTP, in any dialect,
// and [RunLocal] one that computes its answers itself. The suite is the
// specification of router.Provider: each of its tests is named for the promise
// that it checks. [Run] expects of a client:
//
//   - The class is that of the status, by the table of [Fail].
//     RetryAfter comes from Retry-After-Ms, else from Retry-After in seconds or
//     as a date, and is at most an hour.
//   - A 200 that is no valid answer is a BadReply. If it could be read and only its
//     answers are wrong, it is Checked too.
//   - Attempt.Credential is sent in place of the operator's, in the same way. If it
//     cannot be sent, the attempt fails and nothing is sent.
//   - A refusal has at most 4 KiB of the upstream's text, and Safety only where the
//     dialect says so.
//   - One request: no retry, and no redirect followed (an http.Client's
//     CheckRedirect returns http.ErrUseLastResponse).
//   - Headers beyond 1 MiB are refused (http.Transport's MaxResponseHeaderBytes),
//     and so is a body beyond Wire.TooLarge, counted after decompression.
//   - When the context ends, also within a body, Err wraps its error; the class
//     is Timeout after a deadline.
//   - Err quotes neither the transport's error nor that of
//     systemone.DecodeResponse: both can hold the upstream's text.
//
// The suite counts goroutines, so it must not run beside parallel tests: call
// it from a test that does not call t.Parallel.
package routertest
