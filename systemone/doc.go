// Package systemone is the vocabulary of decision models: a request carries a
// state and named, typed questions; an answer carries probabilities.
//
// The one thing to know first: guidance and state are raw JSON that the
// library moves but does not interpret, and the order in which a request names
// its questions, options and levels is kept, because it decides ties, legends
// and what an upstream model reads.
//
// Everything here is a plain value or a pure function. Nothing does I/O, and
// nothing is safe for concurrent mutation; shared reading is fine.
package systemone
