// Package wordvec encodes a text as one vector: the weighted mean of the static vectors
// of its words. It ignores word order. It complements a sentence encoder because it gives
// rare words more weight.
//
// The weight of a word grows with its rarity. The direction that all English sentences
// share is removed from the mean (Arora, Liang, Ma 2017, "A simple but tough-to-beat
// baseline for sentence embeddings"), because otherwise any two sentences look alike.
// That direction is part of the packed table.
package wordvec
