// Package geminidecisions is the client of upstreams that speak the Gemini Decisions
// dialect, POST {base}/decisions, and translates both ways.
//
// The one thing to know first: the dialect looks like System One and takes less.
// Where it can express something in words, the client does so. What it cannot express is
// declared by [Client.Endpoint], or fails before anything is sent. Nothing is made up.
// In requests:
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
//   - A missing state, missing instructions, a null level and an empty level cannot be
//     expressed. Endpoints have OptionNullsOnly, which excludes all of these except the
//     empty level. An attempt with one of them fails with a [router.UpstreamError] that
//     is Local: nothing is sent, and it does not count against the endpoint.
//   - The order of a choice's options is lost, because the service sorts them by name.
//     The user, the request ID and the caller's options are not sent, because the dialect
//     has no members for them.
//
// In replies:
//
//   - A blocked request is a refusal of every question that was sent, with the message
//     that comes with the reason. The dialect cannot refuse a single question. It is for
//     safety unless the reason is "other" or unspecified.
//   - The reported confidence is the probability of the most probable answer, not the
//     published formula. The router computes the formula from the distribution.
//   - A reply has neither an ID nor the name of its model, so [router.Reply.ID] and
//     [router.Reply.Model] are empty. Counts by modality are not passed on.
//
// All three kinds of question are taken. A noul is between 0.01 and 0.99.
//
// Wire facts are those of @ai-sdk/google 4.0.121 and of the reference of js-genai and
// java-genai, of November 2026. The API is v1beta and may move.
package geminidecisions
