// Package docs holds the tests of the written documentation: Go code shown in
// README.md and CONTRIBUTING.md stands in a file that is compiled and run, and
// every relative link of every Markdown file leads somewhere.
package docs
