// Package activity reports what was used, by UTC day, model and endpoint.
//
// The one thing to know first: a request counts on the day of its admission,
// the same rule as for spend limits, so what activity shows, what keys show and
// what limits look at are always the same money.
//
// [Service.Intercept] records every answered call, and what was charged because a
// caller ended its call; [Service.Items] reads the
// last thirty completed days. [Store] is what storage implements.
package activity
