package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
)

// samples are one event of each type, as docs/events.md shows them.
func samples() map[hooks.Type]hooks.Event {
	since := time.Date(2026, time.November, 21, 11, 58, 30, 0, time.UTC)
	list := map[hooks.Type]hooks.Event{}
	for i, data := range []hooks.Data{
		hooks.Budget{
			Account: "acme", Workspace: "0d9e6c1e-7a51-4a35-9f0b-5d1f4f1d2a10", KeyHash: "9f86d081884c7d65", Owner: "key", Check: "key_limit",
			Interval: "daily", Window: "2026-11-21", Percent: 80, Limit: 10 * router.Dollar, Spent: 8_012_500_000, Held: 2_000_000,
		},
		hooks.Budget{
			Account: "acme", Owner: "account", Check: "credits", Interval: "lifetime", Window: "ever", Refused: true,
			Limit: 100 * router.Dollar, Spent: 99_999_000_000, Held: 0,
		},
		hooks.Outage{Endpoint: "typesafe", Model: "typesafe/jev-1.13", Provider: "TypeSafe", Class: "provider_overloaded", Since: since},
		hooks.Outage{Endpoint: "typesafe", Model: "typesafe/jev-1.13", Provider: "TypeSafe", Class: "provider_overloaded", Since: since, Until: &noon},
		hooks.Overrun{
			Account: "acme", Workspace: "0d9e6c1e-7a51-4a35-9f0b-5d1f4f1d2a10", KeyHash: "9f86d081884c7d65", ID: "gen-dec-1763726400-abc",
			RequestID: "req-1", Endpoint: "typesafe", Model: "typesafe/jev-1.13", Held: 1_000_000, Cost: 1_500_000, Charged: 1_500_000,
		},
		hooks.Change{
			Action: "update", Kind: "key", Object: "9f86d081884c7d65", Account: "acme", By: hooks.Actor{Account: "acme", Member: "ann"},
			RequestID: "req-2", Fields: []string{"limit", "limit_reset"},
		},
	} {
		id := uuid.UUID{15: byte(i + 1)}
		list[data.Type()] = hooks.Event{ID: "evt_" + strings.ReplaceAll(id.String(), "-", ""), At: noon, Data: data}
	}
	return list
}

// TestEventsAreDocumented: docs/events.md shows the exact JSON of each type.
func TestEventsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/events.md")
	require.NoError(t, err)
	all := samples()
	require.Len(t, all, len(hooks.Types()), "a sample of each type")
	for _, of := range hooks.Types() {
		text, err := json.Marshal(all[of])
		require.NoError(t, err)
		var shown bytes.Buffer
		require.NoError(t, json.Indent(&shown, text, "", "  "))
		assert.Contains(t, string(page), "## `"+string(of)+"`\n", "a heading")
		assert.Contains(t, string(page), "```json\n"+shown.String()+"\n```\n")
		var back hooks.Event
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, all[of], back)
	}
}

// TestEventsOfOtherVersionsAreRefused: members that were added are not.
func TestEventsOfOtherVersionsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"evt_1","type":"hold.exceeded","version":1,"timestamp":"2026-11-21T12:00:00Z","data":{"new":1},"new":2}`: "",
		`{"id":"evt_1","type":"hold.exceeded","version":2,"timestamp":"2026-11-21T12:00:00Z","data":{}}`:                "version 2",
		`{"id":"evt_1","type":"new.type","version":1,"timestamp":"2026-11-21T12:00:00Z","data":{}}`:                     `unknown type "new.type"`,
		`{"id":"evt_1","type":"hold.exceeded","version":1,"timestamp":"2026-11-21T12:00:00Z","data":[]}`:                "cannot unmarshal",
	} {
		var e hooks.Event
		err := json.Unmarshal([]byte(text), &e)
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
	_, err := json.Marshal(hooks.Event{ID: "evt_1"})
	require.ErrorContains(t, err, "has no data")
}

// FuzzEvent: any text that is read is written as an event with the same content.
func FuzzEvent(f *testing.F) {
	for _, e := range samples() {
		text, err := json.Marshal(e)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e, back hooks.Event
		if json.Unmarshal(text, &e) != nil {
			return
		}
		again, err := json.Marshal(e)
		if err != nil { // a year beyond 9999 in another zone
			return
		}
		require.NoError(t, json.Unmarshal(again, &back))
		twice, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(again), string(twice))
	})
}

// TestChangesHoldNoValues: the JSON of a change names fields, because their values may be
// content. A handler in Go gets the record.
func TestChangesHoldNoValues(t *testing.T) {
	s, in := newSite(), &inbox{}
	h := s.hooks(t, hooks.Config{Receivers: receivers(in)})
	record := router.Change{
		ID: uuid.New(), At: noon, Action: "update", Kind: "preset", Object: "p", Account: "acme",
		Actor:  router.Actor{RequestID: "r", Principal: router.Principal{Account: "acme", Member: "ann", KeyHash: "k1"}},
		Before: []byte(`{"name":"a","system_prompt":"secret plan","config":{},"gone":1}`),
		After:  []byte(`{"name":"a","system_prompt":"other plan","config":{},"new":null}`),
	}
	h.Changed(record)
	settle(t, h)
	require.Len(t, in.events, 1)
	text, err := json.Marshal(in.events[0])
	require.NoError(t, err)
	assert.NotContains(t, string(text), "plan")
	got, ok := in.events[0].Data.(hooks.Change)
	require.True(t, ok)
	assert.Equal(t, record, got.Record)
	assert.Equal(t, []string{"gone", "new", "system_prompt"}, got.Fields)
	assert.Equal(t, hooks.Actor{Account: "acme", Member: "ann", KeyHash: "k1"}, got.By)
}

// TestFuncsGetTheirKind: and Handle returns their errors. A nil function ignores its
// events.
func TestFuncsGetTheirKind(t *testing.T) {
	var got []hooks.Type
	note := func(e hooks.Event) error {
		got = append(got, e.Data.Type())
		return errDown
	}
	f := hooks.Funcs{
		Budget:  func(_ context.Context, e hooks.Event, _ hooks.Budget) error { return note(e) },
		Outage:  func(_ context.Context, e hooks.Event, _ hooks.Outage) error { return note(e) },
		Overrun: func(_ context.Context, e hooks.Event, _ hooks.Overrun) error { return note(e) },
		Change:  func(_ context.Context, e hooks.Event, _ hooks.Change) error { return note(e) },
	}
	all := samples()
	for _, of := range hooks.Types() {
		require.ErrorIs(t, f.Handle(t.Context(), all[of]), errDown)
		require.NoError(t, hooks.Funcs{}.Handle(t.Context(), all[of]))
	}
	assert.Equal(t, hooks.Types(), got)
}
