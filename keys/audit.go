package keys

import (
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// audited holds the fields of a key that the record of a change shows.
type audited struct {
	Name         string      `json:"name"`
	Label        string      `json:"label"`
	Workspace    string      `json:"workspace_id,omitempty"`
	Creator      string      `json:"creator_user_id,omitempty"`
	Management   bool        `json:"is_management_key"`
	Provisioned  bool        `json:"is_provisioned"`
	Disabled     bool        `json:"disabled"`
	Limit        *router.USD `json:"limit"`
	Reset        string      `json:"limit_reset"`
	IncludeBYOK  bool        `json:"include_byok_in_limit"`
	ExternalUser string      `json:"external_user,omitempty"`
	ExpiresAt    *time.Time  `json:"expires_at"`
}

// change returns the record of an action of by. before is nil for a new key, after
// for a deleted one.
func (s *Service) change(by router.Actor, action string, before, after *Key) router.Change {
	c := router.Change{ID: s.cfg.NewID(), At: s.now(), Actor: by, Action: action, Kind: "key"}
	for _, side := range []struct {
		key *Key
		to  *json.RawMessage
	}{{before, &c.Before}, {after, &c.After}} {
		if k := side.key; k != nil {
			c.Object, c.Account, *side.to = k.Hash, k.Account, snapshot(k)
		}
	}
	return c
}

func snapshot(k *Key) json.RawMessage {
	a := audited{
		Name: k.Name, Label: k.Label, Workspace: k.Workspace, Creator: k.Creator, Management: k.Management,
		Provisioned: k.Provisioned, Disabled: k.Disabled, Limit: k.Limit, Reset: k.Reset.String(),
		IncludeBYOK: k.IncludeBYOK, ExternalUser: k.ExternalUser,
	}
	if !k.ExpiresAt.IsZero() {
		a.ExpiresAt = &k.ExpiresAt
	}
	text, err := json.Marshal(a)
	if err != nil { // only for an expiry after the year 9999
		return nil
	}
	return text
}

// Bounds of a key's texts, in characters.
const (
	maxName = 200
	maxUser = 256

	notStorable = "must be UTF-8 without U+0000"
)

// issues collects the mistakes in given settings, under their names in the HTTP
// interface.
type issues []systemone.Issue

func (list *issues) add(path, message string) {
	*list = append(*list, systemone.Issue{Path: path, Message: message})
}

func (list *issues) name(name string) {
	if n := utf8.RuneCountInString(name); n < 1 || n > maxName {
		list.add("name", "must have 1 to "+strconv.Itoa(maxName)+" characters")
	}
	list.storable("name", name)
}

func (list *issues) user(path, user string) {
	if utf8.RuneCountInString(user) > maxUser {
		list.add(path, "must have at most "+strconv.Itoa(maxUser)+" characters")
	}
	list.storable(path, user)
}

func (list *issues) storable(path, text string) {
	if !router.Storable(text) {
		list.add(path, notStorable)
	}
}

func (list *issues) limit(limit *router.USD, reset router.Interval) {
	if limit != nil && (*limit < 0 || *limit > maxLimit) {
		list.add("limit", "must be from 0 to 9000000000 USD")
	}
	if reset > router.Daily {
		list.add("limit_reset", "must be daily, weekly, monthly or lifetime")
	}
}
