// Package proofs tests what no single package can promise: every ledger is
// linearizable, a program's changes take effect in another one, broken connections lose
// no money, calls with many legs cost what they say, and known bugs of other gateways do
// not occur here. It has only tests.
//
// SIGNALBOX_TEST_FULL=1 makes 1,000 calls at once, and tries every moment of a call on
// every storage.
// SIGNALBOX_TEST_HISTORIES=1000 checks 1,000 histories of each ledger for
// linearizability, instead of a few.
package proofs
