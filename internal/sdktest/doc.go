// Package sdktest tests Signalbox with clients by others: the published SDKs
// @openrouter/sdk, @typesafe-ai/sdk and the AI SDK with @openrouter/ai-sdk-provider,
// unmodified, under Node, and a browser.
//
// The tests start the real handler, router and System One client in front of a scripted
// upstream. They pass their cases to a small Node script, and check what the SDK
// returned. "npm ci" in this folder installs the packages. Without them, or without
// Node 20, the tests skip with the reason. So does the browser test without Chromium.
// SIGNALBOX_TEST_NOSKIP=1 turns these skips into failures.
package sdktest
