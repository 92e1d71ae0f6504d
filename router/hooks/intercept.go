package hooks

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// Intercept observes calls. List it after the interceptors that set budgets. It never
// refuses, changes or delays a call.
func (h *Hooks) Intercept(next router.Decider) router.Decider {
	if h.wants(OutageBegan, OutageEnded, HoldExceeded) {
		next = router.Observe(observer{h})(next)
	}
	if h.watch == nil {
		return next
	}
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		res, err := next(ctx, c)
		h.watch.note(c)
		return res, err
	}
}

// observer turns what a router reports into events.
type observer struct{ *Hooks }

// Observe implements [router.Observer].
func (h observer) Observe(_ context.Context, o router.Outcome) {
	over := o.Report.Overrun
	if over == nil {
		return
	}
	h.emit(h.cfg.Now(), Overrun{
		Account: o.Principal.Account, Workspace: o.Principal.Workspace, KeyHash: o.Principal.KeyHash,
		ID: o.ID, RequestID: o.RequestID,
		Endpoint: over.Endpoint.Tag(), Model: over.Endpoint.Model,
		Held: over.Held.Total, Cost: over.Cost.Total, Charged: over.Cost.Credit,
	})
}

// ObserveOutage implements [router.OutageObserver].
func (h observer) ObserveOutage(_ context.Context, o router.Outage) {
	data := Outage{
		Endpoint: o.Endpoint.Tag(), Model: o.Endpoint.Model, Provider: o.Provider,
		Class: string(o.Class), Since: o.Since.UTC(),
	}
	at := o.Since
	if !o.Until.IsZero() {
		at = o.Until
		data.Until = new(o.Until.UTC())
	}
	h.emit(at, data)
}

// Changed emits a management action that a store has recorded.
func (h *Hooks) Changed(c router.Change) {
	p := c.Actor.Principal
	h.emit(c.At, Change{
		Action: c.Action, Kind: c.Kind, Object: c.Object, Account: c.Account,
		By: Actor{Account: p.Account, Member: p.Member, KeyHash: p.KeyHash}, RequestID: c.Actor.RequestID,
		Fields: changed(c.Before, c.After), Record: c,
	})
}

// changed returns the names of the members that differ between two JSON objects, sorted.
// A text that is no object has no members.
func changed(before, after json.RawMessage) []string {
	was, is := members(before), members(after)
	names := map[string]bool{}
	for name, value := range was {
		if other, ok := is[name]; !ok || string(other) != string(value) {
			names[name] = true
		}
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			names[name] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(names))...)
}

func members(object json.RawMessage) map[string]json.RawMessage {
	var found map[string]json.RawMessage
	if json.Unmarshal(object, &found) != nil {
		return nil
	}
	return found
}
