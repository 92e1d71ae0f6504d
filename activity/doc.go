// Package activity reports what accounts have used, by UTC day, model and
// endpoint.
//
// A request counts on the day of its admission. Spend limits have the same rule,
// so the figures of activity, of keys and of limits agree.
//
// [Service.Intercept] records every answered call, and also the charge of a call
// that its caller ended. [Service.Items] reads the last thirty completed days.
// With [Query].ByReason the items tell what the first answers of calls cost and what
// later legs added. Storage implements [Store].
package activity
