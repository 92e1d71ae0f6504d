package routertest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// shape is a request that every provider must take.
type shape struct {
	name    string
	request *systemone.Request
}

func text(s string) json.RawMessage { return systemone.Text(s) }

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// shapes are requests of every kind of question, state and guidance.
func shapes(nulls bool) []shape {
	list := []shape{
		{"a noul", ask(text("Paid twice for May."), noul("refund"))},
		{"a noul with criteria", ask(text("Paid twice."), systemone.Question{
			Name: "refund", Kind: systemone.Noul, Instructions: text("Is money asked back?"),
			True: text("an explicit wish"), False: text("no wish"),
		})},
		{"a choice", ask(text("The app crashes."), choose("desk", "billing", "tech"))},
		{"a choice of one", ask(text("The app crashes."), choose("desk", "tech"), noul("more"))},
		{"a choice of many", ask(text("The app crashes."), choose("desk", many(26)...))},
		{"a score", ask(text("I am furious!"), rate("heat", "calm", "annoyed", "furious"))},
		{"a score of one level", ask(text("I am furious!"), rate("heat", "calm"), noul("more"))},
		{"all three", mixed()},
		{"a state that is an object", ask(raw(`{"ticket":{"text":"Paid twice","tags":["a","b"]},"n":1.50}`), noul("refund"))},
		{"a state that is an array", ask(raw(`["Paid twice",{"from":"ann"},3,null,true]`), noul("refund"))},
		{"an empty state", ask(text(""), noul("refund"))},
		{"unusual texts", ask(text("a \"quoted\" \\ line\n\tand \u2028 \u00e9\u4e16\U0001F600 </script>"), unusual()...)},
		{"structured guidance", ask(text("Paid twice"), structured()...)},
		{"twenty questions", ask(text("Paid twice"), twenty()...)},
	}
	if nulls {
		open := choose("desk", "billing", "tech")
		open.Options[1].Guidance = nil
		list = append(list, shape{"an option without guidance", ask(text("Paid twice"), open)})
	}
	return list
}

func ask(state json.RawMessage, questions ...systemone.Question) *systemone.Request {
	return &systemone.Request{State: state, Questions: questions}
}

func noul(name string) systemone.Question {
	return systemone.Question{Name: name, Kind: systemone.Noul, Instructions: text("Does the writer ask for money back?")}
}

func choose(name string, options ...string) systemone.Question {
	q := systemone.Question{Name: name, Kind: systemone.Choice, Instructions: text("Who should answer?")}
	for _, o := range options {
		q.Options = append(q.Options, systemone.Option{Name: o, Guidance: text("what concerns " + o)})
	}
	return q
}

func rate(name string, levels ...string) systemone.Question {
	q := systemone.Question{Name: name, Kind: systemone.Score, Instructions: text("How upset is the writer?")}
	for _, l := range levels {
		q.Levels = append(q.Levels, text(l))
	}
	return q
}

// mixed asks one question of each kind, in an order that no sorting would give.
func mixed() *systemone.Request {
	return ask(raw(`{"ticket":"Paid twice for May, please reverse one charge"}`),
		noul("refund"), choose("desk", "tech", "billing", "other"), rate("heat", "calm", "annoyed", "furious"))
}

func many(n int) []string {
	options := make([]string, n)
	for i := range options {
		options[i] = "option " + strconv.Itoa(n-i)
	}
	return options
}

func unusual() []systemone.Question {
	return []systemone.Question{
		noul("is \"it\" \\ so\n?"),
		noul("__proto__"),
		noul("12"),
		noul(strings.Repeat("long ", 51)),
		choose("d\u00e9sk \U0001F600", "true", "false", "1", "0", "null", " ", "\u00e9", "e\u0301", "A", "a"),
		rate("answers", "calm", "calm", "CALM"),
	}
}

func structured() []systemone.Question {
	c := choose("desk", "billing", "tech")
	c.Instructions = raw(`{"task":"pick a desk","notes":["be strict",{"lang":"en"}]}`)
	c.Options[0].Guidance = raw(`{"covers":["invoices","refunds"]}`)
	c.Options[1].Guidance = raw(`["crashes","logins"]`)
	s := rate("heat", "calm", "furious")
	s.Instructions = raw(`["How upset?","Judge the tone."]`)
	s.Levels[0] = raw(`{"tone":"calm"}`)
	n := noul("refund")
	n.True, n.False = raw(`{"say":["refund","money back"]}`), raw(`["anything else"]`)
	return []systemone.Question{c, s, n}
}

func twenty() []systemone.Question {
	questions := make([]systemone.Question, 0, 20)
	for i := range 20 {
		name := fmt.Sprintf("q%02d", 19-i)
		switch i % 3 {
		case 0:
			questions = append(questions, noul(name))
		case 1:
			questions = append(questions, choose(name, many(i+1)...))
		default:
			questions = append(questions, rate(name, many(2+i%4)...))
		}
	}
	return questions
}
