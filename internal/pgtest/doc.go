// Package pgtest gives tests schemas of a real PostgreSQL.
//
// The schemas are in the database and on the server that the environment variable
// SIGNALBOX_TEST_POSTGRES names (a DSN whose role may create schemas), or
// else on a private server, version 15 or newer, that the test process starts
// from the binaries it finds in PATH or where Debian keeps them. It listens on
// a Unix socket in a temporary folder, is shared by all tests of the process
// and needs no preparation and no rights. When neither is to be had, the test
// is skipped and says why; with SIGNALBOX_TEST_NOSKIP=1 it fails.
//
// A package that uses it hands its tests to [Main]:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
// A test that kills its server has one of its own: [NewMortal].
//
// The default collation of a private server is that of English, so that text
// which a store does not declare COLLATE "C" sorts and pages visibly wrong.
package pgtest
