package openaidecisions

import (
	"errors"
	"strconv"

	"github.com/signalbox/signalbox/internal/openai"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Problems of a reply. The texts contain nothing of the upstream's.
var (
	errSyntax  = errors.New("reply is not valid JSON")
	errForm    = errors.New("reply is not in the Decisions form")
	errCount   = errors.New("reply does not have one answer for each question")
	errKind    = errors.New("an answer is of another kind than its question")
	errName    = errors.New("an answer has a name although its question has none")
	errAnswer  = errors.New("an answer lacks a member, or one has the wrong type")
	errValue   = errors.New("a distribution does not have each value once")
	errLabel   = errors.New("a level has another label than was sent")
	errUsage   = errors.New("a token count of the reply is negative or no whole number")
	errRefusal = errors.New("a refusal has an answer")
)

// distrust returns the failure for a reply that decode refuses: a bad answer if the
// reply was in the dialect, else a bad reply.
func distrust(err error) *router.UpstreamError {
	if errors.Is(err, errSyntax) || errors.Is(err, errForm) || errors.Is(err, errUsage) {
		return upstream.BadReply(err)
	}
	return upstream.BadAnswer(err)
}

// decode reads a reply to these questions. Its errors are safe to log.
func decode(data []byte, questions []systemone.Question) (router.Reply, error) {
	if systemone.CheckSyntax(data) != nil {
		return router.Reply{}, errSyntax
	}
	answers := upstream.Trim(upstream.Member(data, "answers"))
	if answers[0] != '[' {
		return router.Reply{}, errForm
	}
	reply := router.Reply{
		Answers: make(systemone.Answers, 0, len(questions)),
		Model:   upstream.Name(upstream.String(upstream.Member(data, "model"))),
	}
	at := 0
	for value := range upstream.Elements(answers) {
		if at == len(questions) {
			return router.Reply{}, errCount
		}
		if err := decodeAnswer(&reply, &questions[at], value); err != nil {
			return router.Reply{}, err
		}
		at++
	}
	if at != len(questions) {
		return router.Reply{}, errCount
	}
	return reply, decodeUsage(&reply, upstream.Member(data, "usage"))
}

// wireAnswer holds the members of one answer, nil where they are null or absent.
type wireAnswer struct {
	name, kind, probability, choice, score, confidence, probabilities, refusal []byte
}

func readAnswer(value []byte) (w wireAnswer) {
	for name, member := range upstream.Members(value) {
		if string(member) == "null" {
			continue
		}
		switch string(name) {
		case "name":
			w.name = member
		case "type":
			w.kind = member
		case "probability":
			w.probability = member
		case "choice":
			w.choice = member
		case "score":
			w.score = member
		case "confidence":
			w.confidence = member
		case "probabilities":
			w.probabilities = member
		case "refusal":
			w.refusal = member
		}
	}
	return w
}

func decodeAnswer(reply *router.Reply, q *systemone.Question, value []byte) error {
	w := readAnswer(value)
	switch kind := upstream.String(w.kind); {
	case w.name != nil:
		return errName
	case kind == openai.Refusal && (w.probability != nil || w.choice != nil || w.score != nil):
		return errRefusal
	case kind == openai.Refusal:
		reply.Refused = append(reply.Refused, router.Refusal{Question: q.Name, Text: upstream.Refusal(w.refusal)})
		return nil
	case kind == "" || kind != openai.Type(q.Kind):
		return errKind
	}
	a := systemone.Answer{Name: q.Name, Kind: q.Kind}
	var ok bool
	var err error
	switch q.Kind {
	case systemone.Choice:
		// The boolean true is not the option "true".
		ok = len(w.choice) > 0 && w.choice[0] == '"'
		a.Choice = upstream.String(w.choice)
		a.Probabilities, err = decodeOptions(w.probabilities, q)
	case systemone.Score:
		a.Score, ok = upstream.Number(w.score)
		a.Probabilities, err = decodeLevels(w.probabilities, q)
	default:
		a.Noul, ok = upstream.Number(w.probability)
	}
	if ok && w.confidence != nil {
		a.Confidence, ok = upstream.Number(w.confidence)
	}
	if !ok {
		return errAnswer
	}
	reply.Answers = append(reply.Answers, a)
	return err
}

// decodeOptions reads the distribution of a choice: every option once, in any
// order.
func decodeOptions(items []byte, q *systemone.Question) ([]systemone.Probability, error) {
	list := make([]systemone.Probability, 0, len(q.Options))
	sorted := true
	for item := range upstream.Elements(items) {
		value := upstream.Member(item, "value")
		p, ok := upstream.Number(upstream.Member(item, "probability"))
		if !ok || len(value) == 0 || value[0] != '"' {
			return nil, errAnswer
		}
		if len(list) == len(q.Options) {
			return nil, errValue
		}
		label := upstream.String(value)
		sorted = sorted && label == q.Options[len(list)].Name
		list = append(list, systemone.Probability{Label: label, P: p})
	}
	if len(list) != len(q.Options) || !sorted && !eachOnce(list, q.Options) {
		return nil, errValue
	}
	return list, nil
}

func eachOnce(list []systemone.Probability, options []systemone.Option) bool {
	left := make(map[string]bool, len(options))
	for _, o := range options {
		left[o.Name] = true
	}
	for _, p := range list {
		if !left[p.Label] {
			return false
		}
		delete(left, p.Label)
	}
	return len(left) == 0
}

// decodeLevels reads the distribution of a score: every index once, in any
// order, under the label that was sent.
func decodeLevels(items []byte, q *systemone.Question) ([]systemone.Probability, error) {
	list := make([]systemone.Probability, len(q.Levels))
	count := 0
	for item := range upstream.Elements(items) {
		index := string(upstream.Member(item, "value"))
		p, ok := upstream.Number(upstream.Member(item, "probability"))
		at, err := strconv.Atoi(index)
		if !ok || err != nil || strconv.Itoa(at) != index {
			return nil, errAnswer
		}
		if label := upstream.Member(item, "label"); label != nil && upstream.String(label) != index {
			return nil, errLabel
		}
		if at < 0 || at >= len(list) || list[at].Label != "" {
			return nil, errValue
		}
		list[at] = systemone.Probability{Label: index, P: p}
		count++
	}
	if count != len(list) {
		return nil, errValue
	}
	return list, nil
}

func decodeUsage(reply *router.Reply, value []byte) error {
	in, out, missing, ok := upstream.Counts(value, []string{"input_tokens"}, []string{"output_tokens"})
	usage := &reply.Usage
	usage.InputTokens, usage.OutputTokens, reply.Uncounted = in, out, missing
	detail := func(object, name string) int64 {
		text := upstream.Member(upstream.Member(value, object), name)
		if text == nil {
			return 0
		}
		n, whole := systemone.ParseCount(text)
		ok = ok && whole
		return n
	}
	usage.CachedTokens = detail("input_tokens_details", "cached_tokens")
	usage.ReasoningTokens = detail("output_tokens_details", "reasoning_tokens")
	if !ok {
		return errUsage
	}
	return nil
}
