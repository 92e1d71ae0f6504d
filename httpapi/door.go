package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/openai"
	"github.com/signalbox/signalbox/systemone"
)

// door is the dialect in which a route takes decisions. Everything else about a
// decision is the same at every door: see decide.
type door interface {
	// decode reads a body and returns the request and the writer of its reply. The
	// error is a [*systemone.InvalidError] with paths of the dialect.
	decode(d systemone.Decoder, body []byte) (*systemone.Request, reply, error)
	// copies is how many times decode takes the memory of the body beside the body.
	copies() int64
	// appendError appends the value of the member error.
	appendError(dst []byte, p problem, issues []systemone.Issue, metadata json.RawMessage) []byte
}

// reply appends the reply to a decoded request, a JSON object.
type reply func(dst []byte, r *systemone.Response) []byte

// door returns the door of the request's path, also for a method that is not served.
func (x *exchange) door() door {
	if d := x.s.doors[x.r.URL.Path]; d != nil {
		return d
	}
	return systemOne{}
}

// systemOne is the System One dialect, and the error envelope of all other routes.
type systemOne struct{}

func (systemOne) decode(d systemone.Decoder, body []byte) (*systemone.Request, reply, error) {
	req, err := d.Decode(body)
	return req, appendResponse, err
}

func appendResponse(dst []byte, r *systemone.Response) []byte { return r.AppendJSON(dst) }

func (systemOne) copies() int64 { return 0 }

func (systemOne) appendError(dst []byte, p problem, _ []systemone.Issue, metadata json.RawMessage) []byte {
	return appendJSON(dst, struct {
		Code     int             `json:"code"`
		Message  string          `json:"message"`
		Metadata json.RawMessage `json:"metadata"`
	}{p.status, p.message, metadata})
}

// openAI is the Decisions dialect of OpenAI.
type openAI struct{}

func (openAI) decode(d systemone.Decoder, body []byte) (*systemone.Request, reply, error) {
	req, asked, err := openai.Decode(d, body)
	if err != nil {
		return nil, nil, err
	}
	return req, asked.AppendReply, nil
}

func (openAI) copies() int64 { return 1 }

// appendError writes the four members of the dialect, and metadata as in the other
// dialect. Its clients show the message alone, so the first issue is part of it, unless
// the message says the same.
func (openAI) appendError(dst []byte, p problem, issues []systemone.Issue, metadata json.RawMessage) []byte {
	var param *string
	message := p.message
	if len(issues) > 0 {
		first, place := issues[0], ""
		if first.Path != "" {
			param, place = &first.Path, first.Path+" "
		}
		if !strings.Contains(message, first.Message) {
			message += ": " + place + first.Message
		}
	}
	return appendJSON(dst, struct {
		Message  string          `json:"message"`
		Type     string          `json:"type"`
		Param    *string         `json:"param"`
		Code     string          `json:"code"`
		Metadata json.RawMessage `json:"metadata"`
	}{message, errorType(p.status), param, string(p.class), metadata})
}

// errorType returns the dialect's type of error for a status.
func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusPaymentRequired:
		return "insufficient_quota"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	default:
		return "invalid_request_error"
	}
}
