// Package presets keeps settings of requests under names that requests can use.
//
// The one thing to know first: a preset is made from the body of a chat request, as
// clients of chat services send it. All of the body is checked, but only a part of
// it is kept, and of that only the models and the provider preferences act on a
// decision. The models may be objects with conditions, as those of a decision. Its
// routing and the options for a gateway are not kept.
//
// Every accepted body is a new version of its preset, and the last version is in
// force. A version has at most [MaxVersionBytes]. [Config] bounds the versions of a
// preset and the presets of a workspace.
//
// Programs use [Service]; storage implements [Store]. [Service.Intercept] replaces
// the preset that a request names by its settings.
package presets
