package hooks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Version is the version of the JSON of events. It rises when a member is removed or
// changes its meaning. New members and new types do not raise it.
const Version = 1

// Type is the kind of an event.
type Type string

// Every type.
const (
	BudgetReached   Type = "budget.reached"   // a budget's spending has reached a percentage: [Budget]
	BudgetRefused   Type = "budget.refused"   // a budget has refused a candidate for the first time in its window: [Budget]
	OutageBegan     Type = "outage.began"     // load balancing avoids an endpoint: [Outage]
	OutageEnded     Type = "outage.ended"     // it no longer does: [Outage]
	HoldExceeded    Type = "hold.exceeded"    // an answer cost more than was held for it: [Overrun]
	SettingsChanged Type = "settings.changed" // a key, a guardrail or another setting was changed: [Change]
)

// Types returns every type.
func Types() []Type {
	return []Type{BudgetReached, BudgetRefused, OutageBegan, OutageEnded, HoldExceeded, SettingsChanged}
}

// Event is something that has happened. Its JSON is described in docs/events.md.
type Event struct {
	ID   string    // "evt_" and 32 hex digits; the same whenever the event is delivered again
	At   time.Time // when it happened, or was noticed
	Data Data      // a Budget, Outage, Overrun or Change
}

// Data is the content of an event: [Budget], [Outage], [Overrun] or [Change].
type Data interface{ Type() Type }

// Budget says how full a budget is. Owner says whose spending the budget limits; of
// Workspace, Member and KeyHash, those that do not identify the owner are "".
type Budget struct {
	Account   string     `json:"account"`
	Workspace string     `json:"workspace_id,omitempty"`
	Member    string     `json:"member,omitempty"`
	KeyHash   string     `json:"key_hash,omitempty"`
	Owner     string     `json:"owner"`    // account, workspace, member or key
	Check     string     `json:"check"`    // the word of the budget's [router.Check], such as key_limit
	Interval  string     `json:"interval"` // lifetime, monthly, weekly or daily
	Window    string     `json:"window"`   // as [router.Interval.Window] names it
	Percent   int        `json:"percent,omitempty"`
	Refused   bool       `json:"refused"` // the event is BudgetRefused, which has no Percent
	Limit     router.USD `json:"limit_usd"`
	Spent     router.USD `json:"spent_usd"` // settled calls
	Held      router.USD `json:"held_usd"`  // calls in flight, and slices of leases
	BYOK      bool       `json:"include_byok"`
}

// Type returns BudgetRefused or BudgetReached.
func (b Budget) Type() Type {
	if b.Refused {
		return BudgetRefused
	}
	return BudgetReached
}

// Outage is a [router.Outage] of one process: each process notices outages by its own
// calls and reports them itself.
type Outage struct {
	Endpoint string     `json:"endpoint"` // tag
	Model    string     `json:"model"`
	Provider string     `json:"provider"` // display name
	Class    string     `json:"class"`    // of the last failure before the begin
	Since    time.Time  `json:"since"`
	Until    *time.Time `json:"until"` // nil in OutageBegan
}

// Type returns OutageBegan or OutageEnded.
func (o Outage) Type() Type {
	if o.Until != nil {
		return OutageEnded
	}
	return OutageBegan
}

// Overrun is a call that cost more than was held for it, or than it allowed itself.
type Overrun struct {
	Account   string     `json:"account"`
	Workspace string     `json:"workspace_id,omitempty"`
	KeyHash   string     `json:"key_hash,omitempty"`
	ID        string     `json:"id"` // of the generation
	RequestID string     `json:"request_id"`
	Endpoint  string     `json:"endpoint"` // tag
	Model     string     `json:"model"`
	Held      router.USD `json:"held_usd"`
	Cost      router.USD `json:"cost_usd"`
	Charged   router.USD `json:"charged_usd"` // Cost without calls on the caller's own provider credentials
}

// Type returns HoldExceeded.
func (Overrun) Type() Type { return HoldExceeded }

// Change is a management action. Its JSON names the changed fields without their values,
// because these may be content, such as the system prompt of a preset.
type Change struct {
	Action    string   `json:"action"` // create, update, delete, …
	Kind      string   `json:"kind"`   // key, guardrail, …
	Object    string   `json:"object"` // its public id
	Account   string   `json:"account"`
	By        Actor    `json:"by"`
	RequestID string   `json:"request_id,omitempty"`
	Fields    []string `json:"fields"` // names of the changed fields, sorted
	// Record is the audit record with all values. It is not part of the JSON.
	Record router.Change `json:"-"`
}

// Actor is who made a change. The zero value is the embedding program.
type Actor struct {
	Account string `json:"account,omitempty"`
	Member  string `json:"member,omitempty"`
	KeyHash string `json:"key_hash,omitempty"`
}

// Type returns SettingsChanged.
func (Change) Type() Type { return SettingsChanged }

// envelope is the JSON of an event.
type envelope struct {
	ID      string          `json:"id"`
	Type    Type            `json:"type"`
	Version int             `json:"version"`
	At      time.Time       `json:"timestamp"`
	Data    json.RawMessage `json:"data"`
}

// MarshalJSON returns the event as docs/events.md describes it.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Data == nil {
		return nil, fmt.Errorf("hooks: event %s has no data", e.ID)
	}
	data, err := json.Marshal(e.Data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{ID: e.ID, Type: e.Data.Type(), Version: Version, At: e.At.UTC(), Data: data})
}

// UnmarshalJSON reads an event. A type or a version that it does not know is an error;
// unknown members are ignored.
func (e *Event) UnmarshalJSON(text []byte) error {
	var outer envelope
	if err := json.Unmarshal(text, &outer); err != nil {
		return err
	}
	if outer.Version != Version {
		return fmt.Errorf("hooks: event has version %d, not %d", outer.Version, Version)
	}
	read := reader(outer.Type)
	if read == nil {
		return fmt.Errorf("hooks: event has the unknown type %q", outer.Type)
	}
	data, err := read(outer.Data)
	if err != nil {
		return err
	}
	*e = Event{ID: outer.ID, At: outer.At, Data: data}
	return nil
}

// reader returns the function that reads the data of a type, or nil.
func reader(t Type) func([]byte) (Data, error) {
	switch t {
	case BudgetReached, BudgetRefused:
		return read[Budget]
	case OutageBegan, OutageEnded:
		return read[Outage]
	case HoldExceeded:
		return read[Overrun]
	case SettingsChanged:
		return read[Change]
	}
	return nil
}

func read[T Data](text []byte) (Data, error) {
	var data T
	err := json.Unmarshal(text, &data)
	return data, err
}
