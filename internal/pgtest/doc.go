// Package pgtest gives tests schemas of a real PostgreSQL.
//
// SIGNALBOX_TEST_POSTGRES names the server and the database, by the DSN of a role that may
// create schemas. Without it the test process starts a private server, version 15 or newer,
// from the programs in PATH or where Debian installs them. A private server listens on a Unix
// socket in a temporary folder, serves all tests of the process, and needs no rights and no
// preparation. Where no server is possible the test is skipped with the reason, or fails if
// SIGNALBOX_TEST_NOSKIP is 1.
//
// A package that uses it hands its tests to [Main]:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// A test that kills its server uses [NewMortal].
//
// A private server collates as English by default. A text column that lacks COLLATE "C"
// therefore sorts visibly wrong.
package pgtest
