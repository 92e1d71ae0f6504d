// Package systemone is the vocabulary of decision models: a request carries a state
// and named, typed questions; an answer carries probabilities.
//
// The one thing to know first: guidance and state are raw JSON that this package
// passes on without interpreting it. The order in which a request names its
// questions, options and levels is kept, because it decides ties, legends and what
// an upstream model reads.
//
// A request may name several models. An [Entry] with a [Condition] begins a group,
// which is asked when answers of the groups before it make the condition true;
// [Condition.Match] names the questions that did.
//
// [Decoder.Decode] turns a body into a request; it is strict and reports every
// problem. [Request.Validate] checks a request built by hand by the same rules.
// [Check] checks an upstream's answers against the request, [Repair] also removes
// rounding errors, and [Response.AppendJSON] writes the reply. The codec uses no
// reflection; [JSON], which turns any Go value into a state, does.
//
// Everything here is a plain value or a pure function without I/O. Values may be
// read concurrently, but not changed concurrently.
package systemone
