// Package openai is the Decisions dialect of OpenAI as a server speaks it, and the
// words of the dialect, which the client in router/openaidecisions shares.
//
// [Decode] rewrites a body to the System One form and has systemone.Decoder read that.
// So a request has one meaning in both dialects, every member of a System One request
// except state and questions works here too (models, provider, session_id, …), and the
// same code checks it. The differences:
//
//   - input is the state. A text is a text. The content of a single user message is the
//     state: one part its text or data, several parts the array of parts that System One
//     has. Any other list of messages, tool calls and tool outputs is the state as sent,
//     without cache breakpoints and members that are null.
//   - A predicate becomes a noul without criteria.
//   - The values of a choice become options. The boolean true and the string "true" are
//     two values: if a question has both, the option of the boolean is "true (boolean)".
//   - A level becomes its label, or "label: description", or the description alone if
//     the label only repeats the level's index.
//   - Instructions made of text parts are joined with blank lines. With JSON parts they
//     become the data of the only part, or an array of the contents.
//   - A question without a name, or with the name of an earlier question, is named by
//     its index: conditions, metadata and upstreams see that name. The reply repeats
//     the name that was sent, or null.
//   - safety_identifier is the user. prompt_cache_key, prompt_cache_options and cache
//     breakpoints are ignored, because upstreams cache by their own rules.
//   - Images are refused.
//
// [Asked.AppendReply] writes a reply with the values, labels and names that were sent.
// The dialect is that of openai-node 7.57.0, openai-go v3.96.0 and @ai-sdk/openai
// 4.0.118, of November 2026.
package openai

import "github.com/signalbox/signalbox/systemone"

// The types of questions and answers. A refusal is an answer only.
const (
	Predicate = "predicate"
	Choice    = "choice"
	Score     = "score"
	Refusal   = "refusal"
)

// Type returns the dialect's word for a kind of question.
func Type(k systemone.Kind) string {
	switch k {
	case systemone.Choice:
		return Choice
	case systemone.Score:
		return Score
	default:
		return Predicate
	}
}
