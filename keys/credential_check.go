package keys

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jsonsize"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Bounds of a credential.
const (
	maxCredentialText = 4096     // bytes: they go into a header
	maxCredentialName = 200      // characters
	maxCredentialList = 1000     // entries
	maxCredentialSize = 72 << 10 // bytes of all three lists, as a reply writes them
	maxIssues         = 101      // one more than are shown

	labelledText = 24 // bytes from which on a label shows some of them
	labelledEnds = 4  // at either end
)

// label returns both ends of a long text, enough to tell it from others.
func label(text router.Secret) string {
	if len(text) < labelledText {
		return "..."
	}
	return string(text[:labelledEnds]) + "..." + string(text[len(text)-labelledEnds:])
}

// problems collects all mistakes, under the names of the members.
type problems []systemone.Issue

func (p *problems) add(path, message string) {
	if len(*p) >= maxIssues {
		return
	}
	*p = append(*p, systemone.Issue{Path: path, Message: message})
}

// secret accepts visible ASCII only, because other bytes cannot be in a header or
// would end it. No message quotes the text.
func (p *problems) secret(text router.Secret) {
	if text == "" || len(text) > maxCredentialText {
		p.add("key", "must have 1 to "+strconv.Itoa(maxCredentialText)+" characters")
		return
	}
	for _, b := range []byte(text) {
		if b <= ' ' || b > '~' {
			p.add("key", "must be made of visible ASCII characters")
			return
		}
	}
}

// list adds the mistakes of a list; nil has none.
func (p *problems) list(path string, list []string) {
	if list != nil && (len(list) == 0 || len(list) > maxCredentialList) {
		p.add(path, "must have 1 to "+strconv.Itoa(maxCredentialList)+" entries")
	}
	for i, entry := range list {
		if entry == "" || len(entry) > maxCredentialList {
			p.add(path+"."+strconv.Itoa(i), "must have 1 to "+strconv.Itoa(maxCredentialList)+" characters")
		} else if !router.Storable(entry) {
			p.add(path+"."+strconv.Itoa(i), notStorable)
		}
	}
}

// size adds a mistake if the lists are too large together, under the name of the
// largest.
func (p *problems) size(c Credential) {
	models, users, hashes := jsonsize.List(c.Models), jsonsize.List(c.Members), jsonsize.List(c.KeyHashes)
	if models+users+hashes <= maxCredentialSize {
		return
	}
	path := "allowed_models"
	switch max(models, users, hashes) {
	case users:
		path = "allowed_user_ids"
	case hashes:
		path = "allowed_api_key_hashes"
	}
	p.add(path, "makes the credential too large: its lists must have at most "+strconv.Itoa(maxCredentialSize)+
		" bytes as JSON and have "+strconv.Itoa(models+users+hashes))
}

// check returns all mistakes of c, those already in bad included.
func (s *Credentials) check(ctx context.Context, bad *problems, c Credential) error {
	if utf8.RuneCountInString(c.Name) > maxCredentialName {
		bad.add("name", "must have at most "+strconv.Itoa(maxCredentialName)+" characters")
	}
	if !router.Storable(c.Name) {
		bad.add("name", notStorable)
	}
	bad.list("allowed_models", c.Models)
	for i, name := range c.Models {
		if name != "" && router.Storable(name) && !router.ModelCanBe(name) {
			bad.add("allowed_models."+strconv.Itoa(i), "can name nothing: it must have no spaces around it, no *, no suffix and no empty part")
		}
	}
	bad.list("allowed_user_ids", c.Members)
	bad.list("allowed_api_key_hashes", c.KeyHashes)
	if len(c.KeyHashes) <= maxCredentialList {
		for i, hash := range c.KeyHashes {
			owns, err := s.cfg.OwnsKey(ctx, c.Account, hash)
			if err != nil {
				return fmt.Errorf("keys: check a credential: %w", err)
			}
			if !owns {
				bad.add("allowed_api_key_hashes."+strconv.Itoa(i), "is not an API key of the account")
			}
		}
	}
	if len(*bad) > 0 {
		return &systemone.InvalidError{Issues: *bad}
	}
	return nil
}

// credentialRecord holds the fields that the record of a change shows: all but the
// text.
type credentialRecord struct {
	ID          string   `json:"id"`
	WorkspaceID string   `json:"workspace_id"`
	Provider    string   `json:"provider"`
	Label       string   `json:"label"`
	Name        string   `json:"name"`
	Disabled    bool     `json:"disabled"`
	IsFallback  bool     `json:"is_fallback"`
	Models      []string `json:"allowed_models"`
	KeyHashes   []string `json:"allowed_api_key_hashes"`
	Members     []string `json:"allowed_user_ids"`
	Revision    int64    `json:"revision"`
	// Warnings are those that the caller got.
	Warnings []systemone.Issue `json:"warnings,omitempty"`
}

// Warnings returns a warning for each name in a credential's list of models that
// the catalog in force does not know. Such names are accepted, because a later
// catalog may have them.
func (s *Credentials) Warnings(models []string) []systemone.Issue {
	return router.Unknown("allowed_models", models, s.cfg.Model)
}

func (s *Credentials) change(by router.Actor, action string, before, after *Credential) (router.Change, error) {
	c := router.Change{
		ID: s.cfg.NewID(), At: s.cfg.Now().UTC().Truncate(time.Microsecond), Actor: by,
		Action: action, Kind: "credential",
	}
	for _, side := range []struct {
		of *Credential
		to *json.RawMessage
	}{{before, &c.Before}, {after, &c.After}} {
		if side.of == nil {
			continue
		}
		o := side.of
		text, err := json.Marshal(credentialRecord{
			o.ID, o.Workspace, o.Provider, o.Label, o.Name, o.Disabled, o.Fallback, o.Models, o.KeyHashes, o.Members, o.Revision,
			s.Warnings(o.Models),
		})
		if err != nil {
			return router.Change{}, fmt.Errorf("keys: record a change: %w", err)
		}
		c.Object, c.Account, *side.to = o.ID, o.Account, text
	}
	return c, nil
}
