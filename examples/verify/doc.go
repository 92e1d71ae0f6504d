// Command verify computes every sum that Signalbox keeps anew, from the events,
// the holds and the payments that it is made of, and reports what does not add
// up. It changes nothing.
//
//	go run ./examples/verify -data DIR
//	go run ./examples/verify -postgres DSN
//
// DIR is the folder of a server on SQLite; DSN is a PostgreSQL database, whose
// servers may be at work meanwhile. Other than on a command line, a DSN with a
// password in it stands in the environment, in SIGNALBOX_POSTGRES.
//
// SQLite reads through two files beside the database, signalbox.db-shm and
// signalbox.db-wal, and makes them where they are missing: DIR must not be
// read-only, but a copy of it will do.
//
// The exit status is 0 when all is well, 1 when something differs, one line for
// each, and 2 when it could not be told.
package main
