// Package ask asks typed questions: a struct is both the sheet of questions and
// the answer.
//
//	type Verdict struct {
//		Desk   ask.Choice[Desk] `ask:"desk" q:"Which team should take this?" options:"billing=charges and refunds|technical=something is broken"`
//		Refund ask.Noul         `ask:"refund" q:"Does the customer want money back?" yes:"asks for a refund" no:"does not" default:"no"`
//		Heat   ask.Score        `ask:"heat" q:"How upset?" levels:"calm|annoyed|furious"`
//	}
//
//	v, res, err := ask.Ask[Verdict](ctx, rt, model, ticket)
//
// [Ask] takes anything that has a Decide method, such as a [router.Router]. It
// returns the struct with its answers: v.Desk.Value is a Desk, v.Desk.P("billing") a
// probability, and v.Desk.Else(0.6, "technical") the value if the model is sure
// enough. [Sheet.Ask] documents what happens where no model answers.
//
// # Tags
//
//   - ask is the name of the question, q its instructions. Both are required.
//   - options are those of a [Choice], as name=guidance|name=guidance, levels those
//     of a [Score] from the lowest, in the same form: two or more. The guidance is
//     optional, and space around names and guidance is ignored.
//   - yes and no describe the sides of a [Noul], both or neither.
//   - default is the value where no model answers: the name of an option or level, or
//     yes or no.
//
// In options and levels a backslash before |, = or \ makes it an ordinary character.
// A tag is a string in quotes, so the backslash is written twice: options:"a\\|b".
// An = after the first is an ordinary character. Tags of other packages are ignored.
//
// Questions with options that are known only at run time, with structured guidance
// or in several languages are built by [NewChoice], [NewNoul] and [NewScore] and put
// into the template of [NewSheet].
package ask
