// Package uselite is a pure Go inference engine for the English Universal Sentence
// Encoder Lite. A unigram tokenizer with 8,000 pieces and a transformer of two layers
// turn a sentence into a unit vector of 512 numbers. The dot product of two such vectors
// measures how similar the meanings of the sentences are.
//
// The matrices stay in the packed file that is given to [Read], as int8. They are neither
// copied nor widened, so an embedded model needs little memory besides its tokenizer. The
// caller must not modify those bytes.
//
// A small assembly kernel computes the matrix products on processors with AVX2 and FMA,
// and portable Go everywhere else. The build tag purego excludes the assembly. Both give
// the same vectors up to the rounding of float32.
package uselite
