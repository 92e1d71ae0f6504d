package router

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Actor says who manages something, and in which request. The zero value is
// the embedding program itself.
type Actor struct {
	Principal Principal
	RequestID string
}

// Change is the record of one management action: what an auditor reads. Stores
// write it in the transaction of the action itself. It holds no secrets.
type Change struct {
	ID     uuid.UUID // never that of another change: a store may take it for the same one
	At     time.Time
	Actor  Actor
	Action string // "create", "update", "delete", …
	Kind   string // of object: "key", "guardrail", …
	Object string // its public id
	// Account is the account that the object belongs to.
	Account string
	// Before and After are the object's fields as JSON objects; nil where there
	// was or is none.
	Before, After json.RawMessage
}

// Update is one member of a partial update. The zero value leaves the member
// as it is. A member that may be null has a pointer as T.
type Update[T any] struct {
	Set bool
	To  T
}

// To sets a member in a partial update.
func To[T any](v T) Update[T] { return Update[T]{Set: true, To: v} }
