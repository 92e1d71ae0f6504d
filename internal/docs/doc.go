// Package docs tests the written documentation. Go code in README.md, CONTRIBUTING.md
// and docs/cookbook.md is part of a compiled file, every relative link in a Markdown
// file has a target, and every test that docs/threats.md names exists.
package docs
