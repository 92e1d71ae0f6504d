// Package sdktest drives Signalbox with clients that others wrote: the
// published SDKs @openrouter/sdk, @typesafe-ai/sdk and the AI SDK with
// @openrouter/ai-sdk-provider, unmodified, under Node, and with a browser.
//
// The tests start the real handler over the real router and the real System
// One client in front of a scripted upstream, hand their cases to a small
// Node script, and check what the SDK made of the replies. "npm ci" in this
// folder installs the packages; without them, or without Node 20, the tests
// skip with the reason, unless SIGNALBOX_TEST_NOSKIP=1 makes that a failure. The
// same goes for the test with a browser where there is no Chromium.
package sdktest
