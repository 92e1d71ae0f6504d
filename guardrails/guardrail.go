package guardrails

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// Errors of [Service] and of [Store].
var (
	ErrNotFound = errors.New("guardrails: no such guardrail")
	ErrExists   = errors.New("guardrails: the guardrail exists already")
	ErrConflict = errors.New("guardrails: the guardrail was changed meanwhile")
	ErrNoUpdate = errors.New("guardrails: no update fields provided")
	ErrConfig   = errors.New("guardrails: invalid configuration")
)

// Guardrail is a set of rules for requests. It enforces nothing by itself: it
// must be assigned to a key or to a member, or be the default of a workspace.
// Its slices are never changed in place.
type Guardrail struct {
	ID          uuid.UUID
	Account     string
	Workspace   string // a UUID: where it is listed, which is not the traffic that it covers
	Default     bool   // it covers all traffic of its workspace
	Name        string
	Description *string
	// Lists of ids, dated ids or aliases, and of slugs or display names. Nil is
	// no rule; none of them is empty.
	AllowedModels, IgnoredModels       []string
	AllowedProviders, IgnoredProviders []string
	Limit                              *router.USD     // nil: no budget
	Reset                              router.Interval // of Limit
	BYOK                               bool            // spending on own provider credentials counts too
	ZDR                                ZDR
	// What may collect data: false removes endpoints that do, nil and true
	// remove none.
	PaidTraining, FreeTraining, FreePublication *bool
	Builtins                                    []content.Filter // with a Slug; nil where never given
	Filters                                     []content.Filter // with a Pattern; nil where never given
	CreatedAt, UpdatedAt                        time.Time
	Revision                                    int64 // 1, and 1 more with each update
}

// ZDR says for which vendors a guardrail asks zero data retention. Nil is as
// good as false. General is what was asked for all; only the others act.
type ZDR struct {
	General, Anthropic, OpenAI, Google, XAI, Other *bool
}
