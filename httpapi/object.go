package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// maxAmount is the largest limit or budget, in dollars.
const maxAmount = 9_000_000_000 * router.Dollar

// object is the body of a management request, read member by member. Members that are
// not read are ignored. Every problem is kept with its path, so that one refusal lists
// them all. Read all members first, then call err.
type object struct {
	path    string // the prefix of its members' paths, "" or "a.b."
	members map[string]json.RawMessage
	issues  *[]systemone.Issue
}

// object reads the request's body as a JSON object.
func (x *exchange) object() (object, error) {
	body, err := x.body()
	if err != nil {
		return object{}, err
	}
	o := object{issues: new([]systemone.Issue)}
	err = x.parse(len(body), func() error {
		if err := systemone.CheckSyntax(body); err != nil {
			return err
		}
		var ok bool
		if o.members, ok = jsontext.Members(jsontext.Trim(body)); !ok {
			return badRequest("", "must be an object")
		}
		return nil
	})
	if err != nil {
		return object{}, err
	}
	return o, nil
}

// inner returns the object at a path in o. It reports no problem if raw is not an
// object.
func (o object) inner(at string, raw json.RawMessage) (object, bool) {
	members, ok := jsontext.Members(raw)
	return object{path: o.path + at + ".", members: members, issues: o.issues}, ok
}

// err returns a refusal with every problem so far, or nil.
func (o object) err() error {
	if len(*o.issues) == 0 {
		return nil
	}
	return &systemone.InvalidError{Issues: *o.issues}
}

// with returns a refusal with every problem so far and the issues of err. Without any
// problem it returns err.
func (o object) with(err error) error { return allIssues(*o.issues, err) }

// wrong adds a problem with a member, unless there are more than a reply shows.
func (o object) wrong(name, format string, args ...any) {
	if len(*o.issues) > maxIssues {
		return
	}
	*o.issues = append(*o.issues, systemone.Issue{Path: o.path + name, Message: fmt.Sprintf(format, args...)})
}

// has reports whether o has any of the members, null or not.
func (o object) has(names ...string) bool {
	for _, name := range names {
		if _, ok := o.members[name]; ok {
			return true
		}
	}
	return false
}

// value returns a member that is not null.
func (o object) value(name string) (json.RawMessage, bool) {
	raw, ok := o.members[name]
	return raw, ok && string(raw) != "null"
}

// given returns a member that is present. A null is reported as a problem.
func (o object) given(name string) (json.RawMessage, bool) {
	raw, ok := o.members[name]
	if ok && string(raw) == "null" {
		o.wrong(name, "must not be null")
		return nil, false
	}
	return raw, ok
}

// require reports missing members as problems.
func (o object) require(names ...string) {
	for _, name := range names {
		if !o.has(name) {
			o.wrong(name, "is required")
		}
	}
}

// boolean reads true or false.
func (o object) boolean(name string) router.Update[bool] {
	raw, ok := o.given(name)
	switch {
	case !ok:
		return router.Update[bool]{}
	case string(raw) == "true", string(raw) == "false":
		return router.To(string(raw) == "true")
	}
	o.wrong(name, "must be true or false")
	return router.Update[bool]{}
}

// text reads a string of from to most characters without U+0000. If most is 0, the
// length has no bound.
func (o object) text(name string, from, most int) router.Update[string] {
	raw, ok := o.given(name)
	if !ok {
		return router.Update[string]{}
	}
	s, ok := o.textOf(name, raw, from, most)
	return router.Update[string]{Set: ok, To: s}
}

// nullText reads a text that may be null.
func (o object) nullText(name string, from, most int) router.Update[*string] {
	raw, ok := o.members[name]
	if !ok {
		return router.Update[*string]{}
	}
	if string(raw) == "null" {
		return router.To[*string](nil)
	}
	s, ok := o.textOf(name, raw, from, most)
	return router.Update[*string]{Set: ok, To: &s}
}

func (o object) textOf(name string, raw json.RawMessage, from, most int) (string, bool) {
	s, ok := jsontext.Text(raw)
	if !ok {
		o.wrong(name, "must be a string")
		return "", false
	}
	switch n := utf8.RuneCountInString(s); {
	case !router.Storable(s):
		o.wrong(name, "must not contain U+0000")
	case n < from:
		o.wrong(name, "must have at least %d characters", from)
	case most > 0 && n > most:
		o.wrong(name, "must have at most %d characters", most)
	default:
		return s, true
	}
	return "", false
}

// word reads a string that must be one of words.
func (o object) word(name string, words ...string) router.Update[string] {
	u := o.text(name, 0, 0)
	if !u.Set {
		return u
	}
	if slices.Contains(words, u.To) {
		return u
	}
	o.wrong(name, "must be one of %s", strings.Join(words, ", "))
	return router.Update[string]{}
}

// reset reads the interval of a limit: daily, weekly, monthly, or null for a limit that
// is never reset.
func (o object) reset(name string) router.Update[router.Interval] {
	if raw, ok := o.members[name]; ok && string(raw) == "null" {
		return router.To(router.Lifetime)
	}
	u := o.word(name, "daily", "weekly", "monthly")
	i, _ := router.ParseInterval(u.To)
	return router.Update[router.Interval]{Set: u.Set, To: i}
}

// amount reads an amount in dollars: a JSON number from zero to nine billion with at
// most nine decimals. Null is nil.
func (o object) amount(name string) router.Update[*router.USD] {
	raw, ok := o.members[name]
	switch {
	case !ok:
		return router.Update[*router.USD]{}
	case string(raw) == "null":
		return router.To[*router.USD](nil)
	case raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		o.wrong(name, "must be a number or null")
		return router.Update[*router.USD]{}
	}
	v, err := router.ParseUSD(string(raw))
	if err != nil || v < 0 || v > maxAmount {
		o.wrong(name, "must be an amount of USD from 0 to 9000000000 with at most 9 decimals")
		return router.Update[*router.USD]{}
	}
	return router.To(&v)
}

// instant reads an RFC 3339 time in UTC; null is the zero time.
func (o object) instant(name string) router.Update[time.Time] {
	if raw, ok := o.members[name]; ok && string(raw) == "null" {
		return router.To(time.Time{})
	}
	u := o.text(name, 0, 0)
	if !u.Set {
		return router.Update[time.Time]{}
	}
	t, err := time.Parse(time.RFC3339Nano, u.To)
	seconds := t.Format("2006-01-02T15:04:05") // time.Parse takes T5:00:00,5Z as well
	rest, written := strings.CutPrefix(u.To, seconds)
	if err != nil || !written || !strings.HasSuffix(rest, "Z") || rest[0] == ',' {
		o.wrong(name, "must be a time in UTC as RFC 3339 writes it, with a Z")
		return router.Update[time.Time]{}
	}
	return router.To(t)
}

// id reads a UUID.
func (o object) id(name string) router.Update[string] {
	u := o.text(name, 0, 0)
	if !u.Set {
		return u
	}
	id, ok := uuidOf(u.To)
	if !ok {
		o.wrong(name, "must be a UUID")
	}
	return router.Update[string]{Set: ok, To: id}
}

// texts reads a list of from to most non-empty strings; null is nil. For a list that
// must not be null, set from above 0 and call require and given too.
func (o object) texts(name string, from, most int) router.Update[[]string] {
	raw, ok := o.members[name]
	switch {
	case !ok:
		return router.Update[[]string]{}
	case string(raw) == "null":
		return router.To[[]string](nil)
	}
	items, ok := jsontext.Elements(raw)
	if !ok {
		o.wrong(name, "must be a list of strings")
		return router.Update[[]string]{}
	}
	if len(items) < from || len(items) > most {
		o.wrong(name, "must have %d to %d entries", from, most)
		return router.Update[[]string]{}
	}
	list, sound := make([]string, len(items)), true
	for i, item := range items {
		list[i], ok = o.textOf(name+"."+strconv.Itoa(i), item, 1, 0)
		sound = sound && ok
	}
	return router.Update[[]string]{Set: sound, To: list}
}

// uuidOf returns s in lower case if it is a UUID in its usual form.
func uuidOf(s string) (string, bool) {
	if len(s) != len(uuid.Nil.String()) {
		return "", false
	}
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}
