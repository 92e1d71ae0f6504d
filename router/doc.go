// Package router picks an upstream for each decision request, falls back to others,
// checks the answers and accounts for the cost.
//
// The one thing to know first: [NewPlan] is a pure function, and [Router.Decide]
// walks the plan that it returns. A plan says for every endpoint of the requested
// models which place it has and why, or why it was excluded. Policies around the
// engine (keys, logging, observers) are interceptors, listed outermost first.
package router
