package content

import "github.com/google/uuid"

// Action is what happens to text that a filter finds. If several filters find the same
// text, the strongest action applies. The zero value is Flag.
type Action uint8

// The actions, from weak to strong.
const (
	Flag   Action = iota // the report mentions it
	Redact               // the label of the filter replaces it
	Block                // the request is refused
)

// String returns flag, redact or block.
func (a Action) String() string {
	words := [...]string{"flag", "redact", "block"}
	return words[min(int(a), len(words)-1)]
}

// ParseAction parses flag, redact or block. It returns false for any other word.
func ParseAction(word string) (Action, bool) {
	for a := range Block + 1 {
		if a.String() == word {
			return a, true
		}
	}
	return 0, false
}

// Filter finds text of one builtin kind, or text that matches a pattern. Set exactly one
// of Slug and Pattern.
type Filter struct {
	Slug     string // a builtin, such as Email, or ""
	Pattern  string // ECMAScript syntax, see PatternBudget.Take; "" for a builtin
	Action   Action
	Label    string // replaces text that a Pattern finds; "" means [REDACTED]. Builtins have their own
	UserOnly bool   // scan only the state; only PromptInjection supports it
	// Guardrail and Scope name the origin of the filter for the report. Merging
	// guardrails sets them; a stored filter has none.
	Guardrail uuid.UUID
	Scope     string // workspace, member or key
}

// Slugs of the builtin filters.
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
