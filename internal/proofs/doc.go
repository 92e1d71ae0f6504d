// Package proofs holds tests of what no package promises alone: that the books
// are linearizable, whatever keeps them, and that the bugs of other people's
// gateways are not in this one. There is no code in it.
//
// SIGNALBOX_TEST_HISTORIES=1000 checks that many histories of each ledger for
// linearizability, instead of a few.
package proofs
