package openaidecisions

import (
	"encoding/json"
	"strconv"

	"github.com/signalbox/signalbox/internal/openai"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const maxSafetyIdentifier = 128

// knownOptions are the members of a body that a caller may set.
func knownOptions() []string { return []string{"prompt_cache_key", "prompt_cache_options"} }

func appendRequest(dst []byte, a router.Attempt, questions []systemone.Question) []byte {
	dst = append(dst, `{"model":`...)
	dst = systemone.AppendString(dst, a.Model)
	dst = append(dst, `,"input":`...)
	dst = appendInput(dst, a.Request.State)
	dst = append(dst, `,"questions":[`...)
	for i := range questions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuestion(dst, &questions[i])
	}
	dst = append(dst, ']')
	if a.User != "" && len(a.User) <= maxSafetyIdentifier {
		dst = append(dst, `,"safety_identifier":`...)
		dst = systemone.AppendString(dst, a.User)
	}
	return append(upstream.AppendOptions(dst, a.Options, knownOptions()), '}')
}

// appendInput writes the state: text unchanged, other values as input_json where
// they fit, else as JSON text.
func appendInput(dst []byte, state json.RawMessage) []byte {
	if !fitsInputJSON(state) {
		return upstream.AppendText(dst, state)
	}
	dst = append(dst, `[{"role":"user","content":[{"type":"input_json","data":`...)
	dst = append(dst, state...)
	return append(dst, `}]}]`...)
}

func appendQuestion(dst []byte, q *systemone.Question) []byte {
	dst = append(append(dst, `{"type":"`...), openai.Type(q.Kind)...)
	dst = append(dst, `","instructions":`...)
	switch q.Kind {
	case systemone.Choice:
		dst = appendInstructions(dst, q, `"Choose the value that fits best."`)
		return appendChoices(dst, q.Options)
	case systemone.Score:
		dst = appendInstructions(dst, q, `"Choose the level that fits best."`)
		return appendLevels(dst, q.Levels)
	default:
		dst = appendInstructions(dst, q, `"Is this true of the input?"`)
		return append(dst, '}')
	}
}

// appendInstructions writes the instructions of a question, followed by the
// criteria of a noul.
func appendInstructions(dst []byte, q *systemone.Question, general string) []byte {
	instructions := q.Instructions
	if instructions == nil {
		instructions = json.RawMessage(general)
	}
	if fitsInputJSON(instructions) {
		dst = append(dst, `[{"type":"input_json","data":`...)
		dst = append(dst, instructions...)
		if q.True != nil || q.False != nil {
			dst = append(dst, `},{"type":"input_text","text":"`...)
			dst = appendCriteria(dst, q, "")
			dst = append(dst, '"')
		}
		return append(dst, `}]`...)
	}
	dst = append(dst, '"')
	dst = upstream.AppendInner(dst, instructions)
	dst = appendCriteria(dst, q, `\n\n`)
	return append(dst, '"')
}

// appendCriteria writes the criteria of a noul into a JSON string, after gap.
func appendCriteria(dst []byte, q *systemone.Question, gap string) []byte {
	if q.True != nil {
		dst = append(append(dst, gap...), `Criteria for true:\n`...)
		dst = upstream.AppendInner(dst, q.True)
		gap = `\n\n`
	}
	if q.False != nil {
		dst = append(append(dst, gap...), `Criteria for false:\n`...)
		dst = upstream.AppendInner(dst, q.False)
	}
	return dst
}

func appendChoices(dst []byte, options []systemone.Option) []byte {
	dst = append(dst, `,"choices":[`...)
	for i := range options {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"value":`...)
		dst = systemone.AppendString(dst, options[i].Name)
		dst = appendDescription(dst, options[i].Guidance)
	}
	return append(dst, `]}`...)
}

func appendLevels(dst []byte, levels []json.RawMessage) []byte {
	dst = append(dst, `,"levels":[`...)
	for i := range levels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"label":"`...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, '"')
		dst = appendDescription(dst, levels[i])
	}
	return append(dst, `]}`...)
}

// appendDescription ends a choice or level. Absent guidance and an empty text give
// no description.
func appendDescription(dst []byte, guidance json.RawMessage) []byte {
	if guidance != nil && string(guidance) != `""` {
		dst = append(dst, `,"description":`...)
		dst = upstream.AppendText(dst, guidance)
	}
	return append(dst, '}')
}
