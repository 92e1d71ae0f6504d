package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// credentialRoutes are the routes of the accounts' own credentials at providers.
func (s *server) credentialRoutes() []route {
	if s.Credentials == nil {
		return nil
	}
	return []route{
		{method: get, path: "/byok", keys: management, serve: (*exchange).listCredentials},
		{method: post, path: "/byok", keys: management, serve: (*exchange).createCredential},
		{method: get, path: "/byok/{id}", keys: management, serve: (*exchange).getCredential},
		{method: patch, path: "/byok/{id}", keys: management, serve: (*exchange).updateCredential},
		{method: remove, path: "/byok/{id}", keys: management, serve: (*exchange).deleteCredential},
	}
}

// credentialObject has no member for the secret, because a secret is never shown.
type credentialObject struct {
	ID          string   `json:"id"`
	Provider    string   `json:"provider"`
	Label       string   `json:"label"`
	Name        *string  `json:"name"`
	Disabled    bool     `json:"disabled"`
	SortOrder   int64    `json:"sort_order"`
	IsFallback  bool     `json:"is_fallback"`
	IsBYOKOnly  bool     `json:"is_byok_only"` // always false
	IsRequired  bool     `json:"is_required"`  // always false
	DeclaredZDR bool     `json:"declared_zdr"` // always false: zero data retention depends on the endpoint
	Models      []string `json:"allowed_models"`
	KeyHashes   []string `json:"allowed_api_key_hashes"`
	Members     []string `json:"allowed_user_ids"`
	Workspace   *string  `json:"workspace_id"` // null where the program has none
	CreatedAt   *string  `json:"created_at"`   // never null
}

func describeCredential(c keys.Credential) credentialObject {
	return credentialObject{
		ID: c.ID, Provider: c.Provider, Label: c.Label, Name: orNull(c.Name), Disabled: c.Disabled, SortOrder: c.Order,
		IsFallback: c.Fallback, Models: c.Models, KeyHashes: c.KeyHashes, Members: c.Members,
		Workspace: orNull(c.Workspace), CreatedAt: stamp(c.CreatedAt),
	}
}

// listCredentials serves GET /byok: the credentials of a workspace, oldest first.
func (x *exchange) listCredentials(ctx context.Context) error {
	query := x.parameters()
	p := query.listPage()
	q := keys.CredentialQuery{
		Workspace: query.workspace(), Provider: x.s.providerSlug(query.text("provider")),
	}
	if err := query.err(); err != nil {
		return err
	}
	return replyList(ctx, x, p, credentialsPart, func(ctx context.Context, at page) ([]credentialObject, int, error) {
		q.Offset, q.Limit = at.offset, at.limit
		list, total, err := x.s.Credentials.List(ctx, x.actor(), q)
		return describeAll(list, describeCredential), total, err
	})
}

// credentialsPart is the number of credentials in one read, 512 KiB at most.
const credentialsPart = 8

// providerSlug returns the slug of the provider with the given display name. Any other
// text is returned unchanged, because it is a slug already.
func (s *server) providerSlug(name string) string {
	catalog := s.Router.Catalog()
	if catalog.Provider(name) != nil { // a slug takes precedence over a display name
		return name
	}
	for _, p := range catalog.Providers() {
		if strings.EqualFold(p.Name, name) {
			return p.Slug
		}
	}
	return name
}

// createCredential serves POST /byok.
func (x *exchange) createCredential(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	o.require("provider", "key")
	provider, workspace, p := o.text("provider", 1, 0), o.id("workspace_id"), o.credentialPatch()
	c := keys.Credential{
		Provider: x.s.providerSlug(provider.To), Workspace: workspace.To, Disabled: p.Disabled.To, Fallback: p.Fallback.To,
		Models: p.Models.To, KeyHashes: p.KeyHashes.To, Members: p.Members.To,
	}
	if p.Name.To != nil {
		c.Name = *p.Name.To
	}
	if err := o.err(); err != nil {
		return o.with(x.s.Credentials.Check(ctx, x.actor(), c, p.Secret.To))
	}
	c, err = x.s.Credentials.Create(ctx, x.actor(), c, p.Secret.To)
	if err != nil {
		return err
	}
	x.warn(x.s.Credentials.Warnings(c.Models))
	x.reply(http.StatusCreated, data{describeCredential(c)})
	return nil
}

// credentialPatch reads the members that an update may change.
func (o object) credentialPatch() keys.CredentialPatch {
	key := o.text("key", 1, 0)
	p := keys.CredentialPatch{
		Secret:    router.Update[router.Secret]{Set: key.Set, To: router.Secret(key.To)},
		Name:      o.nullText("name", 1, 0),
		Disabled:  o.boolean("disabled"),
		Fallback:  o.boolean("is_fallback"),
		Models:    o.texts("allowed_models", 1, maxCredentialEntries),
		KeyHashes: o.texts("allowed_api_key_hashes", 1, maxCredentialEntries),
		Members:   o.texts("allowed_user_ids", 1, maxCredentialEntries),
	}
	o.refuseUnsupported()
	return p
}

// maxCredentialEntries is the largest length of each filter list of a credential.
const maxCredentialEntries = 1000

// getCredential serves GET /byok/{id}.
func (x *exchange) getCredential(ctx context.Context) error {
	id, err := x.pathID()
	if err != nil {
		return err
	}
	c, err := x.s.Credentials.Get(ctx, x.actor(), id)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describeCredential(c)})
	return nil
}

// updateCredential serves PATCH /byok/{id}.
func (x *exchange) updateCredential(ctx context.Context) error {
	id, err := x.pathID()
	if err != nil {
		return err
	}
	o, err := x.object()
	if err != nil {
		return err
	}
	p := o.credentialPatch()
	if err := o.err(); err != nil {
		return err
	}
	if !o.has("key", "name", "disabled", "is_fallback", "allowed_models", "allowed_api_key_hashes", "allowed_user_ids") {
		return errNoUpdate
	}
	c, err := x.s.Credentials.Update(ctx, x.actor(), id, p)
	if err != nil {
		return err
	}
	x.warn(x.s.Credentials.Warnings(c.Models))
	x.reply(http.StatusOK, data{describeCredential(c)})
	return nil
}

// deleteCredential serves DELETE /byok/{id}.
func (x *exchange) deleteCredential(ctx context.Context) error {
	id, err := x.pathID()
	if err != nil {
		return err
	}
	if err := x.s.Credentials.Delete(ctx, x.actor(), id); err != nil {
		return err
	}
	x.reply(http.StatusOK, deleted{true})
	return nil
}
