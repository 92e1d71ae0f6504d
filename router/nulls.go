package router

import (
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// isNull reports whether valid raw JSON is null or empty.
func isNull(v json.RawMessage) bool {
	for _, b := range v {
		switch b {
		case ' ', '\t', '\r', '\n':
		default:
			return b == 'n'
		}
	}
	return true
}

// plainNulls returns q with nil for all raw JSON that is null, as in a decoded
// request. A request built by hand may spell null in other ways, such as "null"
// with spaces, and a provider that sends guidance as text would send "null" as a
// description. It returns q itself where nothing has to change.
func plainNulls(q *systemone.Request) *systemone.Request {
	if !spellsNull(q) {
		return q
	}
	out := *q
	out.State, out.Trace = plain(q.State), plain(q.Trace)
	out.Questions = slices.Clone(q.Questions)
	for i := range out.Questions {
		to := &out.Questions[i]
		to.Instructions, to.True, to.False = plain(to.Instructions), plain(to.True), plain(to.False)
		to.Options, to.Levels = slices.Clone(to.Options), slices.Clone(to.Levels)
		for j := range to.Options {
			to.Options[j].Guidance = plain(to.Options[j].Guidance)
		}
		for j := range to.Levels {
			to.Levels[j] = plain(to.Levels[j])
		}
	}
	return &out
}

// plain returns nil for null, else v.
func plain(v json.RawMessage) json.RawMessage {
	if isNull(v) {
		return nil
	}
	return v
}

// spellsNull reports whether anything in q is null without being nil.
func spellsNull(q *systemone.Request) bool {
	spells := func(v json.RawMessage) bool { return v != nil && isNull(v) }
	return spells(q.State) || spells(q.Trace) || slices.ContainsFunc(q.Questions, func(q systemone.Question) bool {
		return spells(q.Instructions) || spells(q.True) || spells(q.False) ||
			slices.ContainsFunc(q.Options, func(o systemone.Option) bool { return spells(o.Guidance) }) ||
			slices.ContainsFunc(q.Levels, spells)
	})
}
