// Package openaidecisions is the client of upstreams that speak the Decisions
// dialect of OpenAI, POST {base}/decisions. It translates requests and replies.
//
// What the dialect has no member for is written as text, and nothing is dropped
// silently. In particular:
//
//   - Questions are sent without names, because names are private to the caller;
//     answers are assigned to questions by their order.
//   - A noul becomes a predicate. The dialect has no criteria for it, so they
//     follow the instructions, under "Criteria for true:" and "Criteria for
//     false:".
//   - A choice's options become values and their guidance descriptions. A score's
//     levels become labels "0", "1", … with the guidance as description, so that
//     equal and null levels stay distinct.
//   - Guidance that is an object or array becomes its JSON text, because
//     descriptions are text. Instructions and states of that kind are sent as
//     input_json where possible, and as JSON text elsewhere: input_json takes
//     objects and arrays of objects, 32 levels, 10,000 values and 256 KiB.
//   - Missing instructions, which the dialect requires, become a general sentence.
//   - A choice with one option and a score with one level, which the dialect does
//     not take, have only one possible answer, so the client answers them itself.
//   - The user becomes safety_identifier; a user of more than 128 characters is not
//     sent.
//
// In the reply a refusal becomes [router.Reply.Refused]. The dialect tells neither why
// a question was refused nor whether it was for safety; a text in the member refusal,
// which compatible services add, is kept. Everything that a System One answer has a
// member for is kept. Boolean choice values, which are no strings
// in this dialect, cannot occur, because they are never sent. Answers have two
// decimals: see [Client.Endpoint].
//
// [Client.Endpoint] makes an endpoint of the upstream for a catalog.
//
// The dialect is that of openai-go v3.95.0, openai-node 7.55.0 and the provider
// package of the AI SDK, of November 2026.
package openaidecisions
