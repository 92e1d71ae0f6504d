package content

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Verdict is the result of a scan.
type Verdict struct {
	// Request is the scanned request, or a copy if something was redacted. If Blocked is
	// set, it is the original.
	Request *systemone.Request
	// Names restores the original names of questions and options in the answers to
	// Request. It is nil if no such name was redacted.
	Names *Names
	// Blocked is the error that refuses the request; nil lets it pass.
	Blocked  *router.Error
	Findings []Finding
	// Stages are for the report to the caller: one for each finding, in the same order,
	// then one for each filter that could not run.
	Stages []router.Step
}

// Finding is what one filter found in a request.
type Finding struct {
	Slug      string // slug of a builtin, or ""
	Pattern   string // source of a custom pattern, or ""
	Label     string // what replaces redacted text
	Action    Action
	Count     int // number of matches
	Guardrail uuid.UUID
	Scope     string
}

// Limits of the report about prompt injection: the number of texts and the bytes of each.
const (
	maxReported      = 10
	maxReportedBytes = 200
)

// note records suspected prompt injection for the report.
func (z *scan) note(found span) {
	if len(z.patterns) == maxReported {
		return
	}
	b := z.text.decoded[found.start:found.end]
	cut := snap(b, span{0, min(len(b), maxReportedBytes)})
	z.patterns = append(z.patterns, string(b[:cut.end]))
}

func (z *scan) verdict() Verdict {
	var v Verdict
	for i, r := range z.rules {
		state, questions := z.counts[i][inState], z.counts[i][inQuestions]
		if r.acts[inState] == r.acts[inQuestions] {
			state, questions = state+questions, 0
		}
		for place, n := range [places]int{state, questions} {
			if n > 0 {
				z.report(&v, r, r.acts[place], n)
			}
		}
	}
	v.Stages = append(v.Stages, z.entities.stages(z.rules)...)
	return v
}

func (z *scan) report(v *Verdict, r rule, a act, n int) {
	f := Finding{Slug: r.slug, Label: r.label, Action: a.action, Count: n, Guardrail: a.guardrail, Scope: a.scope}
	if r.pattern != nil {
		f.Pattern = r.pattern.source
	}
	v.Findings = append(v.Findings, f)
	v.Stages = append(v.Stages, stage(r, a, n, z.patterns))
	if a.action == Block && v.Blocked == nil {
		v.Blocked = &router.Error{
			Class:   router.PermissionDenied,
			Message: "Request blocked by content filter: " + r.title,
		}
		if r.kind == kindInjection {
			v.Blocked.Message = "Request blocked: prompt injection patterns detected"
			v.Blocked.Metadata = map[string]any{"patterns": z.patterns}
		}
	}
}

// stage reports what a filter did to a request.
func stage(r rule, a act, n int, patterns []string) router.Step {
	done := [...]string{Flag: "flagged", Redact: "redacted", Block: "blocked"}
	s := router.Step{
		Type: "guardrail",
		Name: "content_filter",
		Data: map[string]any{
			"action":   a.action.String(),
			"detected": true,
			"engines":  []string{"regex"},
			"label":    r.label,
			"count":    n,
		},
	}
	name := r.title
	switch r.kind {
	case kindInjection:
		s.Name = "regex_pi_detection"
		s.Data["patterns"] = patterns
	case kindPerson, kindAddress:
		s.Data["engines"] = []string{"ner"}
	case kindPattern:
		name = "Pattern " + r.label
	default:
	}
	if r.slug != "" && r.kind != kindInjection {
		s.Data["filter"] = r.slug
	}
	s.Summary = fmt.Sprintf("%s: %d %s", name, n, done[a.action])
	return a.attribute(s)
}

// attribute adds the guardrail of a filter to its stage.
func (a act) attribute(s router.Step) router.Step {
	if a.guardrail != uuid.Nil {
		s.GuardrailID = new(a.guardrail)
	}
	s.GuardrailScope = a.scope
	return s
}
