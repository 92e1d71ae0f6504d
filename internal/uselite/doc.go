// Package uselite is a pure Go inference engine for the English Universal
// Sentence Encoder Lite: a unigram tokenizer with 8,000 pieces and a
// transformer of two layers that turn a sentence into a unit vector of 512
// numbers, so that the dot product of two vectors says how alike the meanings
// of two sentences are.
//
// The one thing to know first: the matrices stay as the int8 bytes of the
// packed file that [Read] is given. They are neither copied nor widened, so
// that a model that is embedded in a binary costs its tokenizer and little
// else in memory, and the caller must not write to those bytes any more.
//
// The products of the matrices are computed by a small assembly kernel where
// the processor has AVX2 and FMA, and by portable Go everywhere else; the
// build tag purego leaves the assembly out. Both give the same vectors up to
// the rounding of float32.
package uselite
