// Package hooks tells a program what happens in its service: a budget that fills up, a
// provider's outage, a call that cost more than was held, a change of a key or a setting.
//
// The one thing to know first: an event never delays the call that causes it. Each
// [Receiver] has a bounded queue and a goroutine of its own, which [Hooks.Run] owns. Where
// the queue is full, the event is dropped and counted.
//
// Alerts of budgets are kept in an [AlertStore] until every receiver has handled them. An
// alert is raised once for each window of a budget and each percentage, however many
// processes share the store. It is delivered at least once: after a crash, or after a
// handler failed, a receiver may get it again under the same [Event.ID]. All other events
// are in memory only. A process that ends loses those of its queues, and logs how many.
//
// No event holds a state, an instruction, an answer or a secret. docs/events.md describes
// their JSON. Package webhook sends them over HTTP.
package hooks
