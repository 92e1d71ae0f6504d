package geminidecisions

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// supported reports whether the dialect can express a state and questions.
func supported(state json.RawMessage, questions []systemone.Question) bool {
	if isNull(state) {
		return false
	}
	for i := range questions {
		if isNull(questions[i].Instructions) {
			return false
		}
		for _, level := range questions[i].Levels {
			if isNull(level) || string(upstream.Trim(level)) == `""` {
				return false
			}
		}
	}
	return true
}

func isNull(value json.RawMessage) bool { return string(upstream.Trim(value)) == "null" }

func appendRequest(dst []byte, a router.Attempt, questions []systemone.Question) []byte {
	dst = append(dst, `{"model":`...)
	dst = systemone.AppendString(dst, a.Model)
	dst = append(dst, `,"input":[{"type":"text","text":`...)
	dst = upstream.AppendText(dst, a.Request.State)
	dst = append(dst, `}],"questions":{`...)
	for i := range questions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = appendPosition(dst, questionLetter, i)
		dst = append(dst, `":`...)
		dst = appendQuestion(dst, &questions[i])
	}
	return append(dst, `}}`...)
}

func appendQuestion(dst []byte, q *systemone.Question) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, q.Kind...)
	dst = append(dst, `","instructions":`...)
	dst = upstream.AppendText(dst, q.Instructions)
	switch q.Kind {
	case systemone.Choice:
		dst = appendOptions(dst, q)
	case systemone.Score:
		dst = appendLevels(dst, q.Levels)
	default:
		dst = appendSides(dst, q)
	}
	return append(dst, '}')
}

// appendSides writes those criteria of a noul that there are.
func appendSides(dst []byte, q *systemone.Question) []byte {
	if isNull(q.True) && isNull(q.False) {
		return dst
	}
	dst = append(dst, `,"criteria":{`...)
	if !isNull(q.True) {
		dst = append(dst, `"true_description":`...)
		dst = upstream.AppendText(dst, q.True)
		if !isNull(q.False) {
			dst = append(dst, ',')
		}
	}
	if !isNull(q.False) {
		dst = append(dst, `"false_description":`...)
		dst = upstream.AppendText(dst, q.False)
	}
	return append(dst, '}')
}

func appendOptions(dst []byte, q *systemone.Question) []byte {
	rename := renamed(q)
	dst = append(dst, `,"criteria":{`...)
	for i := range q.Options {
		if i > 0 {
			dst = append(dst, ',')
		}
		o := &q.Options[i]
		if rename {
			dst = appendRenamed(dst, i, o)
			continue
		}
		dst = systemone.AppendString(dst, o.Name)
		dst = append(dst, ':')
		if isNull(o.Guidance) {
			dst = append(dst, "null"...)
		} else {
			dst = upstream.AppendText(dst, o.Guidance)
		}
	}
	return append(dst, '}')
}

// appendRenamed writes an option under its position. Its name, which the model must
// see, goes before its guidance.
func appendRenamed(dst []byte, at int, o *systemone.Option) []byte {
	dst = append(dst, '"')
	dst = appendPosition(dst, optionLetter, at)
	dst = append(dst, `":"`...)
	dst = upstream.AppendInner(dst, systemone.Text(o.Name))
	if !isNull(o.Guidance) {
		dst = append(dst, `\n\n`...)
		dst = upstream.AppendInner(dst, o.Guidance)
	}
	return append(dst, '"')
}

func appendLevels(dst []byte, levels []json.RawMessage) []byte {
	dst = append(dst, `,"criteria":[`...)
	for i, level := range levels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = upstream.AppendText(dst, level)
	}
	return append(dst, ']')
}
