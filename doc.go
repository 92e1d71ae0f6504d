// Package signalbox is a whole decision service in one value: routing, keys,
// accounts, presets, guardrails, budgets, activity and the HTTP interface.
//
//	model, err := similarity.New(similarity.Config{}) // or any other router.Provider
//	// …
//	catalog, err := router.Single(model, model.Endpoint("embedded"))
//	// …
//	s, err := signalbox.New(signalbox.Config{Catalog: catalog})
//	// …
//	go s.Run(ctx)                              // closes holds, drops what is old
//	result, err := s.Decide(ctx, call)         // in process
//	err = http.ListenAndServe(addr, s.Handler) // over HTTP, with the keys of s.Keys
//
// A program that needs less takes the parts. Each has a package of its own:
//
//   - systemone: states, questions, answers and their laws; router plans, asks
//     providers in turn, checks answers and counts money; router/ask makes a
//     struct the sheet of questions and the answer.
//   - router/systemonehttp, router/openaidecisions: providers over HTTP;
//     router/similarity is a model in the program; router/routertest scripts
//     providers for tests, and is the suite that a provider must pass.
//   - keys, organization, presets, guardrails, activity: one policy each.
//   - httpapi: the HTTP interface, for any mux.
//   - store: what a service keeps; store/memory, store/sqlite, store/postgres
//     keep it; store/lease shares budgets between processes; store/storetest
//     is the suite that a store must pass.
//
// The examples folder has programs to start from; examples/server is a server.
package signalbox
