// Package wordvec turns a text into one vector by a mean of the static vectors
// of its words. It knows no word order; what it adds to a sentence encoder is
// that rare words count.
//
// The one thing to know first: each word is weighted by how rare it is, and
// the direction that all English sentences share is taken out of the mean
// (Arora, Liang, Ma 2017, "A simple but tough-to-beat baseline for sentence
// embeddings"). That direction ships with the table; without it any two
// sentences look alike.
package wordvec
