package upstream

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Rule gives an error with this status, code and message a class that differs from
// its status's. Empty fields match anything; text is compared without case.
type Rule struct {
	Status  int    // 0: any
	Code    string // the whole value of a member code, type, error_type or status
	Message string // a substring of a member message or msg, or of an error that is a string
	Class   router.Class
}

// CommonRules returns the rules for errors that mean the same at every upstream: a
// model that the upstream does not know, which is the operator's mistake, or a
// request that is too large.
func CommonRules() []Rule {
	return []Rule{
		{Code: "model_not_found", Class: router.ProviderUnavailable},
		{Code: "unknown_model", Class: router.ProviderUnavailable},
		{Code: "invalid_model", Class: router.ProviderUnavailable},
		{Code: "unsupported_model", Class: router.ProviderUnavailable},
		{Code: "max_tokens_exceeded", Class: router.PayloadTooLarge},
		{Code: "tokens_exceeded", Class: router.PayloadTooLarge},
		{Code: "context_length_exceeded", Class: router.PayloadTooLarge},
		{Code: "request_too_large", Class: router.PayloadTooLarge},
		{Code: "payload_too_large", Class: router.PayloadTooLarge},
	}
}

// Match returns the class of the first rule that fits an error body. A body that is
// not valid JSON fits none.
func Match(rules []Rule, status int, data []byte) (router.Class, bool) {
	if len(rules) == 0 || systemone.CheckSyntax(data) != nil {
		return "", false
	}
	var e details
	e.read(data, 0)
	for _, r := range rules {
		if (r.Status == 0 || r.Status == status) && e.fits(r) {
			return r.Class, true
		}
	}
	return "", false
}

// details are the members of an error body that describe the error. Other members,
// in which an upstream may repeat the request, are ignored: otherwise a caller
// could choose the class of an error by the text of a state.
type details []detail

type detail struct{ codes, messages []string }

func (e *details) fits(r Rule) bool {
	for _, d := range *e {
		if r.Code != "" && !slices.ContainsFunc(d.codes, func(s string) bool { return strings.EqualFold(s, r.Code) }) {
			continue
		}
		if r.Message != "" && !slices.ContainsFunc(d.messages, func(s string) bool { return containsFold(s, r.Message) }) {
			continue
		}
		return true
	}
	return false
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// read collects the details of an error body: those of the object itself and of its
// error, detail and errors members, in the forms that upstreams use.
func (e *details) read(value []byte, depth int) {
	if depth > 3 {
		return
	}
	switch value = Trim(value); value[0] {
	case '"':
		e.add(detail{messages: []string{String(value)}})
	case '[':
		for item := range Elements(value) {
			e.read(item, depth+1)
		}
	case '{':
		var d detail
		for name, member := range Members(value) {
			switch string(name) {
			case "code", "type", "error_type", "status":
				d.codes = append(d.codes, scalar(member))
			case "message", "msg":
				d.messages = append(d.messages, scalar(member))
			case "error", "detail", "errors":
				e.read(member, depth+1)
			}
		}
		e.add(d)
	}
}

func (e *details) add(d detail) {
	if len(d.codes)+len(d.messages) > 0 && len(*e) < maxDetails {
		*e = append(*e, d)
	}
}

// maxDetails bounds the work that one error body can make.
const maxDetails = 16

// scalar returns a string's text, a number's digits, and "" for anything else.
func scalar(value []byte) string {
	switch c := value[0]; {
	case c == '"':
		return String(value)
	case c == '-' || '0' <= c && c <= '9':
		return string(value)
	default:
		return ""
	}
}
