// Package geminidecisions is the client of upstreams that speak the Gemini Decisions
// dialect, POST {base}/decisions, and translates both ways.
//
// The one thing to know first: the dialect looks like System One and takes less.
// What can be said in words is said so. What cannot be said is declared by
// [Client.Endpoint], or fails before anything is sent. Nothing is invented. On the
// way there:
//
//   - The state is one text part: a string is itself, an object or array its JSON
//     text. The dialect's images, audio, video and documents have no counterpart in a
//     request.
//   - Instructions and criteria are text too, in the same way. The criteria of a noul
//     are named true_description and false_description.
//   - Questions are sent under names of our own, "q0", "q1", …, because the dialect
//     takes 64 of A-Z a-z 0-9 _ - and the names are the caller's own business.
//   - Options keep their names where the dialect takes them: 1 to 128 characters
//     without white space at either end. Where one option of a choice has another name,
//     all of them are sent as "o0", "o1", …, and each description begins with the name.
//   - A choice with one option and a score with one level, which the dialect does not
//     take, have one possible answer, which the client gives itself.
//   - A missing state, missing instructions, a null level and an empty one cannot be
//     said. Endpoints have OptionNullsOnly, which keeps all of them away but the empty
//     level. An attempt with one fails on this side: nothing is sent, and it counts
//     against nothing that is known of the endpoint.
//   - Lost are the order of a choice's options, which the service sorts by name, and
//     the user and the request ID, for which the dialect has no place. No option of the
//     caller is known to the service, so none is sent.
//
// On the way back:
//
//   - A blocked request is a refusal of every question that was sent. The dialect cannot
//     refuse one question alone.
//   - The confidence that is reported is the probability of what won, and not the
//     published formula. The router computes that from the distribution.
//   - A reply names neither itself nor what answered, so [router.Reply.ID] and
//     [router.Reply.Model] are empty. Counts by modality are not passed on.
//
// All three kinds of question are taken. A noul is between 0.01 and 0.99.
//
// Wire facts are those of @ai-sdk/google 4.0.121 and of the reference of js-genai and
// java-genai, of November 2026. The API is v1beta and may move.
package geminidecisions
