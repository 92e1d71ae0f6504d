package upstream

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/systemone"
)

const (
	maxName    = 256
	maxCost    = 32
	maxRefusal = 4 << 10
)

// Name returns an upstream's name of something, for logs and metadata: visible
// ASCII of a bounded length, or "".
func Name(text string) string {
	if len(text) > maxName || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return text
}

// Refusal returns what an upstream said when it refused, the text of a JSON string,
// for [router.Refusal]: at most 4 KiB, cut between characters. Anything but a string
// is "".
func Refusal(value []byte) string {
	text := String(value)
	if len(text) <= maxRefusal {
		return text
	}
	end := maxRefusal
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end])
}

// Cost returns a cost that an upstream reports as a plain decimal. It is "", which
// means unknown, for anything else.
func Cost(n json.Number) json.Number {
	text := string(n)
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, point := strings.Cut(mantissa, ".")
	if len(text) > maxCost || !digits(whole) || point && !digits(fraction) {
		return ""
	}
	if !scientific {
		return n
	}
	// Two digits at most: the plain form must stay short.
	if e := strings.TrimLeft(exponent, "+-"); !digits(e) || len(e) > 2 || len(exponent)-len(e) > 1 {
		return ""
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return ""
	}
	return json.Number(d.String())
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Sole reports whether a question has only one possible answer: a choice of one
// option, a score of one level. Some upstreams refuse these.
func Sole(q systemone.Question) bool {
	return q.Kind == systemone.Choice && len(q.Options) == 1 || q.Kind == systemone.Score && len(q.Levels) == 1
}

// SoleAnswer answers a question for which [Sole] holds.
func SoleAnswer(q systemone.Question) systemone.Answer {
	a := systemone.Answer{Name: q.Name, Kind: q.Kind, Confidence: 1}
	label := "0"
	if q.Kind == systemone.Choice {
		label = q.Options[0].Name
		a.Choice = label
	}
	a.Probabilities = []systemone.Probability{{Label: label, P: 1}}
	return a
}

// SplitSole separates the questions with only one possible answer ([Sole]), and answers
// them. If there are none, asked is questions itself.
func SplitSole(questions []systemone.Question) (asked []systemone.Question, sole systemone.Answers) {
	for i, q := range questions {
		if !Sole(q) {
			if sole != nil {
				asked = append(asked, q)
			}
			continue
		}
		if sole == nil {
			asked = append(asked, questions[:i]...)
		}
		sole = append(sole, SoleAnswer(q))
	}
	if sole == nil {
		return questions, nil
	}
	return asked, sole
}
