// Package presets keeps the settings of requests under names that requests can
// use.
//
// The one thing to know first: a preset is made from the body of a request for
// a chat, as clients of chat services send it, and everything in such a body is
// checked, but only a part of it is kept. Of what is kept, only the models and
// the provider preferences act on a decision.
//
// Every accepted body is a new version of its preset, and the last one is in
// force. A version has at most [MaxVersionBytes], a preset keeps its newest
// versions, and a workspace has a bound of presets ([Config]). [Service] is what programs hold and is safe for concurrent use;
// [Store] is what storage implements. [Service.Intercept] puts the presets that
// requests name into them.
package presets
