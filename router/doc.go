// Package router picks an upstream for each decision request, falls back,
// checks the answers and accounts for the cost.
//
// The one thing to know first: [NewPlan] is a pure function. It says for every
// endpoint of the models asked for where it stands and why, or why it was
// excluded; the same input gives the same plan. [Router.Decide] walks that
// plan. What a program wants enforced around it (keys, logging, observers)
// it lists as interceptors, outermost first.
package router
