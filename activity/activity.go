package activity

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Errors of [Service].
var (
	// ErrNotFound is a workspace that the account does not have.
	ErrNotFound = errors.New("activity: no such workspace")
	ErrConfig   = errors.New("activity: invalid configuration")
)

// Item is the use of one endpoint on one day.
type Item struct {
	Date      string // YYYY-MM-DD, UTC
	Model     string // namespaced id
	Permaslug string // with the dated suffix
	Endpoint  uuid.UUID
	Provider  string // display name
	// Workspace is a UUID; "" where items are not split by workspace.
	Workspace string
	// Reason is why the legs were asked; "" where items are not split by reason, and
	// for events without one, such as the charge of an expired hold.
	Reason router.LegReason
	// Requests counts each answered call once, at the endpoint that answered most of
	// its questions. An item may have tokens and a cost and no request.
	Requests   int64
	Prompt     int64 // tokens
	Completion int64
	Reasoning  int64
	Cached     int64
	// Cost.Credit is what the account was charged; Cost.BYOK() what requests on
	// its own provider credentials would have cost.
	Cost router.Amount
}

// Add adds the figures of o to those of i.
func (i *Item) Add(o Item) {
	i.Requests += o.Requests
	i.Prompt += o.Prompt
	i.Completion += o.Completion
	i.Reasoning += o.Reasoning
	i.Cached += o.Cached
	i.Cost.Credit += o.Cost.Credit
	i.Cost.Total += o.Cost.Total
}

// Empty reports whether every figure is zero, as after an event that takes back
// what expiry had charged.
func (i *Item) Empty() bool {
	return i.Requests == 0 && i.Prompt == 0 && i.Completion == 0 && i.Reasoning == 0 && i.Cached == 0 &&
		i.Cost == router.Amount{}
}

// AddEvent adds what one event used to the item of its day, endpoint,
// workspace and reason.
func (i *Item) AddEvent(e *router.Event) {
	i.Requests += e.Requests
	i.Prompt += e.Prompt
	i.Completion += e.Completion
	i.Reasoning += e.Reasoning
	i.Cached += e.Cached
	i.Cost.Credit += e.Cost.Credit
	i.Cost.Total += e.Cost.Total
}

// ItemOf returns the item of a single event.
func ItemOf(e router.Event) Item {
	i := Item{
		Date:  router.Daily.Window(e.Admitted),
		Model: e.Model, Permaslug: e.Permaslug, Endpoint: e.Endpoint, Provider: e.Provider,
		Workspace: e.Principal.Workspace, Reason: e.Reason,
	}
	i.AddEvent(&e)
	return i
}

// Range selects the events that [Store.Items] adds up.
type Range struct {
	Account  string // required
	From, To string // days, inclusive
	KeyHash  string // only this key's; "" is all
	Member   string // only what keys that this member created used; "" is all
}

// Store keeps what was used. Each method is one transaction, safe for
// concurrent use, and honours ctx.
type Store interface {
	// Record adds events, all or none. An event whose ID was recorded before
	// adds nothing, so a batch may be tried again.
	Record(ctx context.Context, events []router.Event) error
	// Items returns the sums of the events in the range, one item for each day,
	// model, endpoint, workspace and reason as recorded, in no particular order.
	// A store may keep only the last 31 days that have events, and may leave out
	// empty items.
	Items(ctx context.Context, r Range) ([]Item, error)
}

// Directory answers what activity must know of accounts.
type Directory interface {
	// Workspaces returns the ids of the account's workspaces, the default one
	// first.
	Workspaces(ctx context.Context, account string) ([]string, error)
	// IsOrganization says whether the account has members.
	IsOrganization(ctx context.Context, account string) (bool, error)
}

// Window returns the first and the last day that [Service.Items] shows at an
// instant: the thirty UTC days before the day of now.
func Window(now time.Time) (from, to string) {
	today := now.UTC()
	return router.Daily.Window(today.AddDate(0, 0, -windowDays)), router.Daily.Window(today.AddDate(0, 0, -1))
}

const windowDays = 30
