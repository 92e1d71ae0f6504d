package guardrails

import (
	"errors"
	"time"

	"github.com/google/uuid"

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
	Builtins                                    []Filter // with a Slug; nil where never given
	Filters                                     []Filter // with a Pattern; nil where never given
	CreatedAt, UpdatedAt                        time.Time
	Revision                                    int64 // 1, and 1 more with each update
}

// ZDR says for which vendors a guardrail asks zero data retention. Nil is as
// good as false. General is what was asked for all; only the others act.
type ZDR struct {
	General, Anthropic, OpenAI, Google, XAI, Other *bool
}

// Action is what becomes of a text that a filter finds. The stronger one wins.
type Action uint8

// Every action, the weakest first.
const (
	Flag   Action = iota // noted in the call's report
	Redact               // replaced by the filter's label
	Block                // the request is refused

	actions = iota
)

// String returns flag, redact or block.
func (a Action) String() string {
	words := [...]string{"flag", "redact", "block"}
	return words[min(int(a), len(words)-1)]
}

// ParseAction reads flag, redact or block.
func ParseAction(word string) (Action, bool) {
	for a := range Action(actions) {
		if a.String() == word {
			return a, true
		}
	}
	return 0, false
}

// Filter finds texts in a request: those of one kind, or those that match a
// pattern.
type Filter struct {
	Slug     string // of a builtin, or ""
	Pattern  string // ECMAScript syntax; "" for a builtin
	Action   Action
	Label    string // of a Pattern: what redacted text becomes; "" is the usual one
	UserOnly bool   // scan only what the user wrote; for regex-prompt-injection alone
	// Guardrail and Scope say where a filter in a policy comes from, for the
	// call's report. They are empty in a Guardrail.
	Guardrail uuid.UUID
	Scope     string // workspace, member or key
}

// Slugs of builtin filters.
const (
	Email           = "email"
	Phone           = "phone"
	SSN             = "ssn"
	CreditCard      = "credit-card"
	IPAddress       = "ip-address"
	PersonName      = "person-name"
	Address         = "address"
	PromptInjection = "regex-prompt-injection"
)
