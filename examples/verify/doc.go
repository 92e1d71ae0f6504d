// Command verify recomputes every sum that Signalbox stores, from the events, holds and
// payments, and reports the sums that differ. It changes nothing.
//
//	go run ./examples/verify -data DIR
//	go run ./examples/verify -postgres DSN
//
// DIR is the folder of a server on SQLite. DSN is a PostgreSQL database; servers may
// use it at the same time. Put a DSN with a password into the variable
// SIGNALBOX_POSTGRES, because other users of a machine can read the command line.
//
// SQLite reads through two files beside the database, signalbox.db-shm and
// signalbox.db-wal, and creates them if they are missing. So DIR must be writable; for
// a read-only folder, verify a copy of it.
//
// The exit status is 0 if all sums agree and 1 if some differ, with one line for each.
// It is 2 if the sums could not be verified.
package main
