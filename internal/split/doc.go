// Package split asks questions of an endpoint that takes fewer of them at once, or
// fewer options of a choice, and merges the answers into those of the whole.
//
// The one thing to know first: a choice is cut into chunks of its options, and only
// ratios of probabilities within one answer are used. If an answer is the softmax of
// fixed logits over the options that are shown, these ratios do not depend on which
// other options are shown, and the merged distribution is the one of the choice asked
// whole, within 1e-9. If the endpoint rounds probabilities to a unit u, no probability
// is off by more than n·r·u for n options in r rounds. That is small for 0.0001, and
// says nothing for 0.01: such an endpoint must not get a split choice, and neither must
// one that gives no distributions. The caller sees to both. Levels are never split.
//
// Everything here is computed: no clock, no I/O, no goroutines.
package split
