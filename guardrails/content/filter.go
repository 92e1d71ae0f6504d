package content

import "github.com/google/uuid"

// Action is what happens to a text that a filter finds. The stronger one wins.
type Action uint8

// Every action, the weakest first.
const (
	Flag   Action = iota // noted in the call's report
	Redact               // replaced by the filter's label
	Block                // the request is refused
)

// String returns flag, redact or block.
func (a Action) String() string {
	words := [...]string{"flag", "redact", "block"}
	return words[min(int(a), len(words)-1)]
}

// ParseAction reads flag, redact or block.
func ParseAction(word string) (Action, bool) {
	for a := range Block + 1 {
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
	Pattern  string // ECMAScript syntax, see PatternBudget.Take; "" for a builtin
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
