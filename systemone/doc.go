// Package systemone is the vocabulary of decision models: a request carries a
// state and named, typed questions; an answer carries probabilities.
//
// The one thing to know first: guidance and state are raw JSON that the
// library moves but does not interpret, and the order in which a request names
// its questions, options and levels is kept, because it decides ties, legends
// and what an upstream model reads.
//
// A body becomes a request by [Decoder.Decode], which is strict and names every
// problem; a request that is built by hand is held to the same rules by
// [Request.Validate]. An upstream's answers are checked against the request by
// [Check] or, with the drift of rounding taken out, by [Repair], and written by
// [Response.AppendJSON]. The codec uses no reflection; [JSON], which makes a
// state of any Go value, does.
//
// Everything here is a plain value or a pure function. Nothing does I/O, and
// nothing is safe for concurrent mutation; shared reading is fine.
package systemone
