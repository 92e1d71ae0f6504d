// Package routertest helps to test what stands around a router.Provider.
//
// For programs that embed the router there is [Script], a provider that answers
// from a script, or sensibly when it has none:
//
//	catalog, err := routertest.Catalog(&routertest.Script{})
//	r, err := router.New(router.Config{Catalog: catalog})
//	result, err := r.Decide(ctx, &router.Call{Request: request})
//
// What the model is to say is scripted by question; the answers are checked, and
// a mistake fails the test:
//
//	script := routertest.NewScript(t, routertest.Step{Answers: []routertest.Answer{
//		routertest.Choose("desk", "billing", 0.9), routertest.Yes("refund", 0.8), routertest.Rate("heat", 2, 0.7),
//	}})
//
// [Catalog] serves one model, [Model]. A test of code that names another model
// makes the catalog with router.Single:
//
//	catalog, err := router.Single(script, router.Endpoint{Provider: "acme", Model: "typesafe/jev-1.13"})
//
// The package imports testing and testify, and brings them into whatever imports
// it: keep it in tests.
//
// For those who write a provider there is the suite that every provider of this
// library passes: [Run] for one that reaches its upstream by HTTP, whatever
// the dialect, and [RunLocal] for one that computes its answers itself. The
// suite is the specification of router.Provider: each of its tests is named
// for the promise that it holds a provider to. What [Run] expects of a client:
//
//   - The class is that of the status, by the table of [Fail].
//     RetryAfter comes from Retry-After-Ms, else from Retry-After in seconds or
//     as a date, and is cut at an hour.
//   - A 200 that is no answer is a BadReply; one that could be read and answers
//     wrongly is Checked too.
//   - Attempt.Credential is shown in place of the operator's, in the same way;
//     one that cannot be shown is a failure and nothing is sent.
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
