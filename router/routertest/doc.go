// Package routertest helps to test what stands around a router.Provider.
//
// For programs that embed the router there is [Script], a provider that answers
// from a script, or sensibly when it has none:
//
//	catalog, err := routertest.Catalog(&routertest.Script{})
//	r, err := router.New(router.Config{Catalog: catalog})
//	result, err := r.Decide(ctx, &router.Call{Request: request})
//
// For those who write a provider there is the suite that every provider of this
// library passes: [Run] for one that reaches its upstream by HTTP, whatever
// the dialect, and [RunLocal] for one that computes its answers itself. The
// suite is the specification of router.Provider: each of its tests is named
// for the promise that it holds a provider to.
//
// The suite counts goroutines, so it must not run beside parallel tests: call
// it from a test that does not call t.Parallel.
package routertest
