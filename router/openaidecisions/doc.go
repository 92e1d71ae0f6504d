// Package openaidecisions is the client of upstreams that speak the Decisions
// dialect of OpenAI, POST {base}/decisions, and translates both ways.
//
// The one thing to know first: what the dialect cannot say is said in words,
// and nothing is dropped silently. In particular:
//
//   - Questions are sent without names, because names are the caller's own
//     business; answers belong to the questions by their order.
//   - A noul becomes a predicate. The dialect has no criteria for it, so they
//     follow the instructions, under "Criteria for true:" and "Criteria for
//     false:".
//   - A choice's options become values, their guidance descriptions. A score's
//     levels become labels "0", "1", … with the guidance as description, so
//     that equal and null levels stay apart.
//   - Guidance that is an object or array becomes its JSON text, because
//     descriptions are text. Instructions and states of that kind are sent as
//     input_json where it can hold them, and as JSON text elsewhere: it takes
//     objects and arrays of objects, 32 levels, 10,000 values and 256 KiB.
//   - Missing instructions, which the dialect requires, become a general
//     sentence.
//   - A choice with one option and a score with one level, which the dialect
//     does not take, have one possible answer, which the client gives itself.
//   - The user becomes safety_identifier; one of more than 128 characters is
//     left out.
//
// On the way back a refusal becomes [router.Reply.Refused]. What is lost there:
// nothing that a System One answer has a place for. Boolean choice values,
// which are no strings in this dialect, cannot come back, because they are
// never sent. Answers have two decimals: see [Client.Endpoint].
//
// [Client.Endpoint] describes the upstream for a catalog.
//
// Wire facts are those of openai-go v3.95.0, openai-node 7.55.0 and the
// provider package of the AI SDK, of November 2026.
package openaidecisions
