package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// detailObject repeats the error in the form that clients of the native API expect.
type detailObject struct {
	Type    router.Class `json:"error_type"`
	Message string       `json:"message"`
}

// errorMetadata is error.metadata. Members that the router adds follow it, such as
// provider_name and previous_errors after attempts.
type errorMetadata struct {
	Type       router.Class      `json:"error_type"`
	Issues     []systemone.Issue `json:"issues,omitempty"`
	ExcludedBy *[]string         `json:"excluded_by,omitempty"` // may be empty
	Warnings   []systemone.Issue `json:"warnings,omitempty"`    // about unknown names in provider lists
}

// fail replaces the reply of x by the refusal for err.
func (x *exchange) fail(ctx context.Context, err error) {
	p := problemOf(err).linked(x.s.CreditsURL)
	x.status, x.out, x.parts = p.status, x.out[:0], nil
	x.retryAfter = retrySeconds(p.status, router.Failure(err).RetryAfter)
	if e, ok := errors.AsType[*keys.RateLimitError](err); ok {
		x.rate, x.retryAfter = e, retrySeconds(p.status, e.RetryAfter)
	}
	if errors.Is(err, errNoRoom) || errors.Is(err, errShare) {
		x.retryAfter = retrySeconds(p.status, retryRoom)
	}
	x.logFailure(ctx, p, err)

	issues := issuesOf(err)
	x.out = x.door().appendError(append(x.out, `{"error":`...), p, issues, x.metadataOf(p, err, issues))
	x.out = x.appendMetadata(x.out, nil)
	if x.principal.Member != "" {
		x.out = append(x.out, `,"user_id":`...)
		x.out = appendJSON(x.out, x.principal.Member)
	}
	if x.s.dualErrors {
		x.out = append(x.out, `,"detail":`...)
		x.out = appendJSON(x.out, detailObject{Type: p.class, Message: p.message})
	}
	x.out = append(x.out, '}')
}

// maxIssues is how many issues a reply lists. If there are more, a last entry says so.
const maxIssues = 100

// listed returns the issues that a reply shows.
func listed(issues []systemone.Issue) []systemone.Issue {
	more := "there are more problems than the " + strconv.Itoa(maxIssues) + " listed"
	if len(issues) <= maxIssues || len(issues) == maxIssues+1 && issues[maxIssues].Message == more {
		return issues
	}
	return append(slices.Clone(issues[:maxIssues]), systemone.Issue{Message: more})
}

// issuesOf returns the problems of a request that err names.
func issuesOf(err error) (list []systemone.Issue) {
	if ie, ok := errors.AsType[*systemone.InvalidError](err); ok {
		list = ie.Issues
	}
	if re, ok := errors.AsType[*router.Error](err); ok && len(re.Issues) > 0 {
		list = re.Issues
	}
	return listed(list)
}

// metadataOf returns error.metadata for err and its issues.
func (x *exchange) metadataOf(p problem, err error, issues []systemone.Issue) json.RawMessage {
	m := errorMetadata{Type: p.class, Issues: issues}
	re, ok := errors.AsType[*router.Error](err)
	if !ok {
		return appendJSON(nil, m)
	}
	if re.ExcludedBy != nil {
		m.ExcludedBy = &re.ExcludedBy
		m.Warnings = x.unknownProviders()
	}
	return appendMembers(appendJSON(nil, m), re.Metadata)
}

// appendMembers adds members to the JSON object out, sorted by name. It skips the
// members that errorMetadata has, and values that cannot be encoded as JSON.
func appendMembers(out []byte, members map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, err := json.Marshal(members[name])
		if err != nil || slices.Contains([]string{"error_type", "issues", "excluded_by", "warnings"}, name) {
			continue
		}
		out = appendJSON(append(out[:len(out)-1], ','), name)
		out = append(append(append(out, ':'), value...), '}')
	}
	return out
}

// logFailure logs the cause of a failure of the server or an upstream, which the reply
// does not contain.
func (x *exchange) logFailure(ctx context.Context, p problem, err error) {
	level := slog.LevelWarn
	switch {
	case p.status < http.StatusInternalServerError, ctx.Err() != nil:
		return // the caller's fault, or the caller has hung up
	case p.status == http.StatusInternalServerError:
		level = slog.LevelError
	}
	x.s.Logger.LogAttrs(ctx, level, "request failed",
		slog.String("request_id", x.requestID), slog.String("route", x.r.Pattern),
		slog.Int("status", p.status), slog.Any("error", err))
}

// appendJSON appends v as JSON without HTML escapes. v must always be encodable.
func appendJSON(dst []byte, v any) []byte {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return append(dst, "null"...)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
