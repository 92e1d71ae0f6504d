// Package signalbox is a whole decision service in one value: routing, keys,
// accounts, presets, guardrails, budgets, activity and the HTTP interface.
//
//	model, err := similarity.New(similarity.Config{}) // or any other router.Provider
//	// …
//	catalog, err := router.Single(model, model.Endpoint("embedded"))
//	// …
//	s, err := signalbox.New(signalbox.Config{Catalog: catalog})
//	// …
//	go s.Run(ctx)                              // closes abandoned holds, prunes old rows
//	result, err := s.Decide(ctx, call)         // in process
//	err = http.ListenAndServe(addr, s.Handler) // over HTTP, with the keys of s.Keys
//
// A program that needs less imports only the parts it uses:
//
//   - systemone defines states, questions, answers and their laws. router calls
//     providers in turn, checks answers and counts money. router/ask writes the
//     questions, and reads the answers, as one Go struct.
//   - router/systemonehttp, router/openaidecisions and router/geminidecisions are
//     providers over HTTP. router/similarity is a model that runs in the process.
//     router/routertest scripts providers for tests and is the suite that a
//     provider must pass.
//   - router/hooks reports budgets that fill up, outages and changes; router/webhook
//     sends these events over HTTP.
//   - keys, organization, presets, guardrails and activity are one policy each.
//   - httpapi is the HTTP interface, for any mux.
//   - store is the set of what a service stores. store/memory, store/sqlite and
//     store/postgres implement it, store/lease shares budgets between processes,
//     and store/storetest is the suite that a store must pass.
//
// The examples folder has programs to start from; examples/server is a server.
package signalbox
