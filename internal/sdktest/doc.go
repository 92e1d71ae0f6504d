// Package sdktest tests Signalbox with clients by others, unmodified: the published SDKs
// openai, @openrouter/sdk, @typesafe-ai/sdk and the AI SDK with its providers
// @ai-sdk/openai, @ai-sdk/typesafe-ai and @openrouter/ai-sdk-provider under Node,
// openai-go, and a browser.
//
// The tests start the real handler, router and System One client in front of a scripted
// upstream. They pass their cases to a small script, and check what the SDK returned.
// "npm ci" in this folder installs the packages. Without them, or without Node 20, the
// tests skip with the reason. So does the browser test without Chromium.
//
// The program for openai-go is a module of its own in the folder openaigo, so that no
// program that embeds Signalbox gets that module into its go.mod or go.sum. "go -C
// openaigo mod download" fetches it. Tests fetch nothing, and skip without it.
//
// SIGNALBOX_TEST_NOSKIP=1 turns these skips into failures.
package sdktest
