package sqlledger

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

var _ activity.Store = (*Activity)(nil)

// Activity keeps events and two roll-ups of them by day: by key and by account. A
// transaction that records events only appends their sums to a list;
// [Activity.fold] adds the lists to the roll-ups later. Readers add what is still
// listed to what the roll-ups hold. Events are never dropped here (see [Pruner]).
type Activity struct {
	db       sqldb.DB
	unfolded atomic.Int64 // events of this process since the last fold
}

// NewActivity returns the activity in db.
func NewActivity(db sqldb.DB) *Activity { return &Activity{db: db} }

// eventRow is an event as it is stored with a hold. Without ID and Admitted it is
// the unit of a roll-up.
type eventRow struct {
	ID        string `json:"id,omitempty"`
	Admitted  int64  `json:"admitted,omitempty"`
	Day       string `json:"day"`
	Account   string `json:"account"`
	Workspace string `json:"workspace"`
	Member    string `json:"member"`
	KeyHash   string `json:"key_hash"`
	Model     string `json:"model"`
	Permaslug string `json:"permaslug"`
	Endpoint  string `json:"endpoint"`
	Provider  string `json:"provider"`
	Reason    string `json:"reason,omitempty"`

	Requests   int64 `json:"requests,omitempty"`
	Prompt     int64 `json:"prompt,omitempty"`
	Completion int64 `json:"completion,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	Cached     int64 `json:"cached,omitempty"`
	Credit     int64 `json:"credit,omitempty"`
	Total      int64 `json:"total,omitempty"`
}

func rowOfEvent(e *router.Event) eventRow {
	return eventRow{
		ID: e.ID, Admitted: sqldb.Micros(e.Admitted), Day: router.Daily.Window(e.Admitted),
		Account: e.Principal.Account, Workspace: e.Principal.Workspace, Member: e.Principal.Member, KeyHash: e.Principal.KeyHash,
		Model: e.Model, Permaslug: e.Permaslug, Endpoint: e.Endpoint.String(), Provider: e.Provider, Reason: string(e.Reason),
		Requests: e.Requests, Prompt: e.Prompt, Completion: e.Completion, Reasoning: e.Reasoning, Cached: e.Cached,
		Credit: int64(e.Cost.Credit), Total: int64(e.Cost.Total),
	}
}

func encodeEvent(e *router.Event) (string, error) {
	text, err := json.Marshal(rowOfEvent(e))
	return string(text), err
}

func decodeEvent(text string) (e router.Event, err error) {
	var r eventRow
	if err = json.Unmarshal([]byte(text), &r); err != nil {
		return e, err
	}
	e = router.Event{
		ID: r.ID, Admitted: sqldb.Instant(r.Admitted),
		Principal: router.Principal{Account: r.Account, Workspace: r.Workspace, Member: r.Member, KeyHash: r.KeyHash},
		Model:     r.Model, Permaslug: r.Permaslug, Provider: r.Provider, Reason: router.LegReason(r.Reason),
		Requests: r.Requests, Prompt: r.Prompt, Completion: r.Completion, Reasoning: r.Reasoning, Cached: r.Cached,
		Cost: router.Amount{Credit: router.USD(r.Credit), Total: router.USD(r.Total)},
	}
	e.Endpoint, err = uuid.Parse(r.Endpoint)
	return e, err
}

// Record implements [activity.Store]. Events that a roll-up could not store are
// refused here, because folding must not fail on what was listed.
func (s *Activity) Record(ctx context.Context, events []router.Event) error {
	if !keepsEvents(events) {
		return errText
	}
	err := sqldb.WriteIdempotent(ctx, s.db, func(tx sqldb.Tx) error { return s.record(ctx, tx, events) })
	if err == nil {
		s.recorded(ctx, len(events))
	}
	return err
}

// record inserts the events that were not recorded before, and lists only those.
func (s *Activity) record(ctx context.Context, tx sqldb.Tx, events []router.Event) error {
	rows := eventRows(events)
	at := make(map[string]int, len(rows))
	for i := range rows {
		at[rows[i].ID] = i
	}
	var added []eventRow
	err := sqldb.QueryRows(ctx, s.db, tx, func(found sqldb.Rows) error {
		id, err := sqldb.ScanText(found)
		if err == nil {
			added = append(added, rows[at[id]])
		}
		return err
	}, addEvents+` RETURNING id`, eventColumns(), insertable(rows))
	if err != nil {
		return err
	}
	return s.db.RunRows(ctx, tx, listsOf(added))
}

// statements return record as statements for events that were not recorded before.
// An event that was recorded before makes them fail with [sqldb.ErrChanged].
func (s *Activity) statements(events []router.Event) []sqldb.RowsStatement {
	if len(events) == 0 {
		return nil
	}
	rows := eventRows(events)
	return []sqldb.RowsStatement{
		{Text: addEvents, Columns: eventColumns(), Rows: insertable(rows), Changed: int64(len(rows))}, listsOf(rows),
	}
}

// eventRows returns events as rows. Of events with the same ID only the first counts.
func eventRows(events []router.Event) []eventRow {
	rows := make([]eventRow, 0, len(events))
	seen := make(map[string]bool, len(events))
	for i := range events {
		if id := events[i].ID; !seen[id] {
			seen[id] = true
			rows = append(rows, rowOfEvent(&events[i]))
		}
	}
	return rows
}

// insertable returns rows as arguments of an insert.
func insertable(rows []eventRow) [][]any {
	all := make([][]any, len(rows))
	for i := range rows {
		all[i] = append([]any{rows[i].ID, rows[i].Admitted}, rows[i].usage()...)
	}
	return all
}

// usage returns the columns of a row without its ID and its instant.
func (r *eventRow) usage() []any {
	return []any{
		r.Day, r.Account, r.Workspace, r.Member, r.KeyHash, r.Model, r.Permaslug, r.Endpoint, r.Provider, r.Reason,
		r.Requests, r.Prompt, r.Completion, r.Reasoning, r.Cached, r.Credit, r.Total,
	}
}
