// Package arch holds the architecture of the module as tests.
//
// One test keeps the floors: a package imports packages of lower floors only,
// and sensitive imports stay where they belong. Another keeps the habits that
// make the lower floors testable: no clock, randomness, environment, init or
// panic in production code. Both parse the sources inside the test process,
// so that the test cache sees every file they read; a test that asked the go
// command instead would stay green after a violation was added.
package arch
