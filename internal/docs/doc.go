// Package docs holds the tests of the written documentation: Go code shown in
// README.md, CONTRIBUTING.md and docs/cookbook.md stands in a file that is compiled
// and run, every relative link of every Markdown file leads somewhere, and every
// test that docs/threats.md names exists.
package docs
