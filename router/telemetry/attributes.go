package telemetry

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Sizes. A span has few attributes, so one allocation takes them all.
const (
	rootAttributes    = 26
	legAttributes     = 8
	attemptAttributes = 18

	longestList    = 100      // names of questions in a span
	longestContent = 16 << 10 // bytes of an attribute with content
)

// attrs is a list of attributes that leaves out what is empty.
type attrs []attribute.KeyValue

func (a *attrs) add(kv attribute.KeyValue) { *a = append(*a, kv) }

func (a *attrs) text(key attribute.Key, value string) {
	if value != "" {
		a.add(key.String(value))
	}
}

func (a *attrs) texts(key attribute.Key, values []string) {
	if len(values) > 0 {
		a.add(key.StringSlice(values[:min(len(values), longestList)]))
	}
}

func (a *attrs) yes(key attribute.Key, value bool) {
	if value {
		a.add(key.Bool(true))
	}
}

func (s *call) rootAttributes(res *router.Result, err error) []attribute.KeyValue {
	c := s.c
	a := make(attrs, 0, rootAttributes+len(s.asked.metadata))
	a.add(operationName.String(operation))
	a.text(requestModel, cut(c.Known(), longestName))
	a.text(responseID, c.ID)
	a.text(ownRequestID, c.RequestID)
	a.text(ownAccount, c.Principal.Account)
	a.text(ownWorkspace, c.Principal.Workspace)
	a.text(ownKey, c.Principal.KeyHash)
	a.add(ownSeed.String(strconv.FormatUint(c.Seed, 10)))
	if s.kind == trace.SpanKindServer {
		a.text(httpRoute, c.Route)
	}
	if q := c.Request; q != nil {
		a.text(sessionID, q.SessionID)
		a.text(userID, c.HashedUser())
	}
	var cost router.USD
	for rec := range c.Report.Attempts() {
		cost += rec.Cost
	}
	a.add(ownCost.Int64(int64(cost)))
	if held := c.Report.Held.Total; held != 0 {
		a.add(ownHold.Int64(int64(held)))
	}
	a.texts(ownGuardrails, stepsOf(c.Report.Pipeline))
	a.yes(ownDryRun, c.DryRun)
	a.yes(ownReplayed, c.Report.Replayed)
	if n := c.Report.Escalated(); n > 0 {
		a.add(ownEscalated.Int(n))
	}
	if err != nil {
		a.add(errorType.String(string(classOf(err))))
		a.text(ownStopped, string(c.Report.Stopped))
		a.yes(ownCanceled, canceled(err))
	} else if res != nil {
		if res.Endpoint != nil {
			a.text(providerName, res.Endpoint.Provider)
		}
		a.text(responseModel, res.Response.Model)
		a.add(inputTokens.Int64(res.Response.Usage.InputTokens))
		a.add(outputTokens.Int64(res.Response.Usage.OutputTokens))
	}
	if s.t.cfg.Content {
		s.content(&a, res)
	}
	return append(a, s.asked.metadata...)
}

// content adds the state, the instructions and the answers.
func (s *call) content(a *attrs, res *router.Result) {
	if q := s.c.Request; q != nil {
		a.text(ownState, cut(string(q.State), longestContent))
		var list []string
		for i := range q.Questions[:min(len(q.Questions), longestList)] {
			list = append(list, cut(string(q.Questions[i].Instructions), longestContent/longestList))
		}
		a.texts(ownInstructions, list)
	}
	if res != nil {
		a.answers(res.Response.Answers)
	}
}

func (a *attrs) answers(list systemone.Answers) {
	if len(list) > 0 {
		a.text(ownAnswers, cut(string(list.AppendJSON(nil)), longestContent))
	}
}

// appendLeg appends the attributes of a leg.
func (s *call) appendLeg(to []attribute.KeyValue, leg *router.Leg) []attribute.KeyValue {
	a := attrs(to)
	a.text(ownReason, string(leg.Reason))
	a.add(ownStage.Int(leg.Group))
	a.texts(ownTriggeredBy, s.shown(leg.TriggeredBy))
	a.text(ownStrategy, leg.Plan.Strategy)
	a.texts(ownQuestions, s.shown(leg.Asked()))
	var skipped []string
	for _, skip := range leg.Skipped {
		skipped = append(skipped, skip.Endpoint.Tag()+":"+skip.String())
	}
	a.texts(ownSkipped, skipped)
	a.text(ownKept, string(leg.Kept))
	a.yes(ownRemembered, leg.Remembered != nil)
	return a
}

// shown returns the names of questions that may be shown: reports have the names that a
// guardrail redacted, and the call's request does not.
func (s *call) shown(names []string) []string {
	var list []string
	for _, name := range names[:min(len(names), longestList)] {
		if slices.ContainsFunc(s.c.Request.Questions, func(q systemone.Question) bool { return q.Name == name }) {
			list = append(list, name)
		}
	}
	return list
}

func (s *call) attemptAttributes(rec *router.AttemptRecord) []attribute.KeyValue {
	a := make(attrs, 0, attemptAttributes)
	a.add(operationName.String(operation))
	a.text(providerName, rec.Endpoint.Provider)
	a.text(requestModel, rec.Endpoint.Model)
	if rec.Class == "" {
		a.text(responseModel, rec.Model.Permaslug)
		a.add(inputTokens.Int64(rec.Usage.InputTokens))
		a.add(outputTokens.Int64(rec.Usage.OutputTokens))
		a.add(ownClass.String("ok"))
	} else {
		a.add(errorType.String(string(rec.Class)))
		a.add(ownClass.String(string(rec.Class)))
	}
	if rec.Status != 0 {
		a.add(responseStatus.Int(rec.Status))
	}
	if to := s.server(rec.Endpoint.Provider); to != nil {
		a.add(serverAddress.String(to.host))
		a.add(serverPort.Int(to.port))
	}
	a.text(ownEndpoint, rec.Endpoint.Tag())
	a.add(ownCost.Int64(int64(rec.Cost)))
	a.add(ownUpstreamCost.Int64(int64(rec.UpstreamCost)))
	a.add(ownBilled.Bool(rec.Billed))
	a.yes(ownBYOK, rec.Credential != nil)
	a.yes(ownEstimated, rec.UsageEstimated)
	if rec.Sharers > 1 {
		a.add(ownSharers.Int(rec.Sharers))
	}
	if s.t.cfg.Content {
		a.text(responseID, cut(rec.UpstreamID, longestName)) // any text that an upstream likes
		a.answers(rec.Answers)
	}
	return a
}

// stepsOf returns what policies did, as "type:name".
func stepsOf(steps []router.Step) []string {
	var list []string
	for i := range steps {
		list = append(list, strings.Trim(steps[i].Type+":"+steps[i].Name, ":"))
	}
	return list
}

// canceled reports whether the caller hung up.
func canceled(err error) bool { return errors.Is(err, context.Canceled) }
