package router

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// Actor says who performs a management action, and in which request. The zero value
// is the embedding program itself.
type Actor struct {
	Principal Principal
	RequestID string
}

// Change is the audit record of one management action. Stores write it in the
// transaction of the action itself. It holds no secrets.
type Change struct {
	ID     uuid.UUID // must be unique: a store may treat an equal ID as the same change
	At     time.Time
	Actor  Actor
	Action string // "create", "update", "delete", …
	Kind   string // of object: "key", "guardrail", …
	Object string // its public id
	// Account is the account that the object belongs to.
	Account string
	// Before and After are the object's fields as JSON objects; nil where the
	// object did not or does not exist.
	Before, After json.RawMessage
}

// Update is one member of a partial update. The zero value leaves the member
// unchanged. A member that may be null has a pointer as T.
type Update[T any] struct {
	Set bool
	To  T
}

// To returns an Update that sets a member to v.
func To[T any](v T) Update[T] { return Update[T]{Set: true, To: v} }
