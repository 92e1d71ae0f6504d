// Package dataset makes large sets of data for benchmarks: accounts with their
// workspaces, keys, and thirty days of activity with the books that belong to
// it. It also measures what has to stay quick on them.
//
// The same size, seed and time give the same data. What is made is consistent:
// the books are what the events add up to.
package dataset
