package guardrails

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// Errors of [Service] and [Store]. They come wrapped: compare with [errors.Is].
var (
	ErrNotFound = errors.New("guardrails: no such guardrail")
	ErrExists   = errors.New("guardrails: the guardrail exists already")
	ErrConflict = errors.New("guardrails: the guardrail was changed meanwhile")
	ErrNoUpdate = errors.New("guardrails: no update fields provided")
	ErrConfig   = errors.New("guardrails: invalid configuration")
)

// Guardrail is a set of rules for requests. It enforces nothing by itself: it must be
// assigned to a key or to a member, or be the default of a workspace. A slice in a
// Guardrail is never modified, only replaced.
type Guardrail struct {
	ID          uuid.UUID
	Account     string
	Workspace   string // a UUID: the workspace that lists it, not the traffic that it covers
	Default     bool   // covers all traffic of its workspace
	Name        string
	Description *string
	// Models by id, dated id or alias, and providers by slug or display name. A nil list
	// is no rule; a list is never empty.
	AllowedModels, IgnoredModels       []string
	AllowedProviders, IgnoredProviders []string
	Limit                              *router.USD     // nil: no budget
	Reset                              router.Interval // of the spending that Limit bounds
	BYOK                               bool            // calls on the caller's own provider credentials count against Limit, too
	ZDR                                ZDR
	// Data policies: false excludes the paid or free endpoints that collect data. Nil and
	// true exclude none.
	PaidTraining, FreeTraining, FreePublication *bool
	Builtins                                    []content.Filter // each with a Slug; nil if never set
	Filters                                     []content.Filter // each with a Pattern; nil if never set
	CreatedAt, UpdatedAt                        time.Time
	Revision                                    int64 // 1 at creation, raised by 1 with each update
}

// ZDR says for which vendors a guardrail requires endpoints with zero data retention. Nil
// means false. Only the switches of vendors have an effect: General records the value
// that a client sent for all vendors.
type ZDR struct {
	General, Anthropic, OpenAI, Google, XAI, Other *bool
}
