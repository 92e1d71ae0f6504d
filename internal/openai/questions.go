package openai

import (
	"strconv"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

const (
	maxName = 256 // characters of a question's name

	mustBeObject       = "must be an object"
	mustBeString       = "must be a string"
	mustBeGiven        = "must be given"
	mustBeInstructions = "must be a string or an array of parts"
	givenTwice         = "is given more than once"
	noImages           = "images are not supported"
)

// list writes the questions as members of an object. indexed names every question by
// its index.
func (t *translation) list(value []byte, indexed bool) {
	if len(value) == 0 || value[0] != '[' {
		t.fail("must be an array of questions")
		return
	}
	taken := t.names(value)
	for m := jsontext.Walk(value); m.Next() && !t.full(); {
		t.at(m.Index)
		t.comma(m.Index)
		name := strconv.Itoa(m.Index)
		q := question{}
		if m.Value[0] == '{' {
			q.sent = known(m.Value, "name")[0]
			if !indexed {
				name = taken.of(m.Index, textOf(q.sent))
			}
		}
		t.out = append(jsontext.AppendString(t.out, name), ':')
		t.question(&q, m.Value)
		t.questions = append(t.questions, q)
		t.leave()
	}
}

// names are the names that a request's questions have: the index of the question that
// has it, or -1 for a name that a question was given here.
type names map[string]int

// names returns the names that were sent, each with its first question, and notes those
// that cannot be names.
func (t *translation) names(list []byte) names {
	first := names{}
	for m := jsontext.Walk(list); m.Next(); {
		if m.Value[0] != '{' {
			continue
		}
		sent := known(m.Value, "name")[0]
		name := textOf(sent)
		_, again := first[name]
		switch {
		case sent != nil && !isText(sent):
			t.nameFails(m.Index, mustBeString)
		case len(name) > maxName && utf8.RuneCountInString(name) > maxName:
			t.nameFails(m.Index, "must not be longer than "+strconv.Itoa(maxName)+" characters")
		case name != "" && !again:
			first[name] = m.Index
		}
	}
	return first
}

func (t *translation) nameFails(index int, message string) {
	t.at(index)
	t.failAt("name", message)
	t.leave()
}

// of returns the name of the question at index: the one that was sent if this is its
// first question, otherwise the index, with marks behind it if that is a name already.
func (n names) of(index int, sent string) string {
	if at, ok := n[sent]; ok && at == index {
		return sent
	}
	return n.free(strconv.Itoa(index))
}

// free returns name, with as many marks behind it as make it unique.
func (n names) free(name string) string {
	for {
		if _, taken := n[name]; !taken {
			n[name] = -1
			return name
		}
		name += "_"
	}
}

// question writes one question. A question with problems becomes a valid one, so that
// the other members of the body can be checked with it.
func (t *translation) question(q *question, value []byte) {
	if value[0] != '{' {
		t.fail(mustBeObject)
		t.text(`{"type":"noul","instructions":""}`)
		return
	}
	in := known(value, "type", "instructions", "choices", "levels")
	switch textOf(in[0]) {
	case Predicate:
		q.Kind = systemone.Noul
	case Choice:
		q.Kind = systemone.Choice
	case Score:
		q.Kind = systemone.Score
	default:
		t.failAt("type", `must be "predicate", "choice" or "score"`)
		q.Kind = systemone.Noul
	}
	t.out = append(append(append(t.out, `{"type":"`...), q.Kind...), '"')
	t.enter("instructions")
	t.instructions(in[1])
	t.leave()
	switch q.Kind {
	case systemone.Noul:
	case systemone.Choice:
		t.enter("choices")
		t.choices(q, in[2])
		t.leave()
	case systemone.Score:
		t.enter("levels")
		t.levels(q, in[3])
		t.leave()
	}
	t.text("}")
}

// instructions writes the member instructions, if there are any.
func (t *translation) instructions(value []byte) {
	switch {
	case value == nil && t.native:
		return
	case value == nil:
		t.fail(mustBeGiven)
		value = []byte(noText)
	}
	t.text(`,"instructions":`)
	if !isText(value) && value[0] != '[' {
		t.fail(mustBeInstructions)
		value = []byte(noText)
	}
	t.content(t.parts(value, mustBeInstructions), joined)
}

// choices writes the values of a choice as its options.
func (t *translation) choices(q *question, value []byte) {
	t.text(`,"criteria":{`)
	defer t.text("}")
	if len(value) == 0 || value[0] != '[' || len(value) == 2 {
		t.fail("must be an array with at least one choice")
		t.text(`"":null`)
		return
	}
	taken := t.values(q, value)
	for m := jsontext.Walk(value); m.Next() && !t.full(); {
		sent := q.values[m.Index]
		name := textOf(sent)
		switch {
		case sent == nil:
			name = taken.free("")
		case sent[0] == 't' || sent[0] == 'f':
			name = string(sent)
			if _, both := taken[name]; both {
				name += " (boolean)"
			}
			name = taken.free(name)
		}
		t.comma(m.Index)
		t.out = append(jsontext.AppendString(t.out, name), ':')
		t.at(m.Index)
		if description := t.description(m.Value); description != nil {
			t.raw(description)
		} else {
			t.text("null")
		}
		t.leave()
	}
}

// values stores the values of a choice in q and returns the strings among them. A value
// that is no string and no boolean, or one that was there before, is a problem and nil.
func (t *translation) values(q *question, list []byte) names {
	taken, yes, no := names{}, false, false
	for m := jsontext.Walk(list); m.Next(); {
		var sent []byte
		if m.Value[0] == '{' {
			sent = known(m.Value, "value")[0]
		}
		again := false
		switch {
		case isText(sent):
			text := textOf(sent)
			_, again = taken[text]
			taken[text] = m.Index
		case len(sent) > 0 && sent[0] == 't':
			again, yes = yes, true
		case len(sent) > 0 && sent[0] == 'f':
			again, no = no, true
		default:
			sent = nil
		}
		if sent == nil || again {
			t.at(m.Index)
			t.failAt("value", pick(again, givenTwice, "must be a string or a boolean"))
			t.leave()
			sent = nil
		}
		q.values = append(q.values, sent)
	}
	return taken
}

// pick returns a if first is true, otherwise b.
func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// description returns the description of a choice or a level, or nil.
func (t *translation) description(value []byte) []byte {
	if value[0] != '{' {
		return nil
	}
	text := known(value, "description")[0]
	if text != nil && !isText(text) {
		t.failAt("description", mustBeString)
		return nil
	}
	return text
}

// levels writes the levels of a score.
func (t *translation) levels(q *question, value []byte) {
	t.text(`,"criteria":[`)
	defer t.text("]")
	if len(value) == 0 || value[0] != '[' || len(value) == 2 {
		t.fail("must be an array with at least one level")
		t.text(`""`)
		return
	}
	for m := jsontext.Walk(value); m.Next() && !t.full(); {
		t.at(m.Index)
		t.comma(m.Index)
		var label []byte
		if m.Value[0] == '{' {
			label = known(m.Value, "label")[0]
		}
		if !isText(label) {
			t.failAt("label", mustBeString)
			label = []byte(noText)
		}
		q.labels = append(q.labels, label)
		switch text, description := textOf(label), t.description(m.Value); {
		case len(description) <= len(`""`):
			t.raw(label)
		case text == strconv.Itoa(m.Index):
			t.raw(description)
		default:
			t.raw(quoted(text + ": " + textOf(description)))
		}
		t.leave()
	}
}
