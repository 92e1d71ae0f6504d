// Package dataset generates large amounts of data for benchmarks: accounts with workspaces,
// keys, and thirty days of activity with the matching books. It also has the benchmarks that run
// on them.
//
// The same size, seed and time generate the same data. The books are what the events add up to.
package dataset
