// Package sqlledger is the ledger in SQL: holds, lines and their balances, the
// events with their roll-ups by day, kept replies, pruning and verification.
//
// Callers that arrive together share a transaction. A batch first takes the fast
// path, which writes without reading and states in SQL what it expects to find.
// Where the database differs, nothing is written and the batch runs again with rows
// loaded and locked.
package sqlledger
