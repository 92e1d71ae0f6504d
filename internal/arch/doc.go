// Package arch holds the architecture of the module as tests.
//
// One test checks the floors: a package imports only packages of lower floors, and
// sensitive imports occur only where they are allowed. Another checks the habits that
// make the lower floors testable: production code has no clock, randomness,
// environment, init or panic. A third checks that one table of httpapi decides all
// refusals.
//
// The tests parse the sources in their own process, so that the test cache knows every
// file that they read. If they ran the go command instead, a cached result would hide
// a new violation.
package arch
