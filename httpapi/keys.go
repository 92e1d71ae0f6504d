package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// keyRoutes are the routes of API keys.
func (s *server) keyRoutes() []route {
	if s.ManagedKeys == nil {
		return nil
	}
	return []route{
		{get, "/keys", management, (*exchange).listKeys},
		{post, "/keys", management, (*exchange).createKey},
		{get, "/keys/{hash}", management, (*exchange).getKey},
		{patch, "/keys/{hash}", management, (*exchange).updateKey},
		{remove, "/keys/{hash}", management, (*exchange).deleteKey},
		{get, "/key", anyKey, (*exchange).currentKey},
	}
}

// The greatest lengths of a key's texts, in characters.
const (
	maxKeyName = 200
	maxUser    = 256
)

// keyShared has the members that every description of a key has.
type keyShared struct {
	Label          string      `json:"label"`
	Limit          *router.USD `json:"limit"`
	LimitRemaining *router.USD `json:"limit_remaining"`
	LimitReset     *string     `json:"limit_reset"`
	IncludeBYOK    bool        `json:"include_byok_in_limit"`
	Usage          router.USD  `json:"usage"`
	UsageDaily     router.USD  `json:"usage_daily"`
	UsageWeekly    router.USD  `json:"usage_weekly"`
	UsageMonthly   router.USD  `json:"usage_monthly"`
	BYOK           router.USD  `json:"byok_usage"`
	BYOKDaily      router.USD  `json:"byok_usage_daily"`
	BYOKWeekly     router.USD  `json:"byok_usage_weekly"`
	BYOKMonthly    router.USD  `json:"byok_usage_monthly"`
	Creator        *string     `json:"creator_user_id"`
	ExternalUser   *string     `json:"external_user"`
	ExpiresAt      *string     `json:"expires_at"`
}

// keyObject is the record of a key.
type keyObject struct {
	Hash string `json:"hash"`
	Name string `json:"name"`
	keyShared
	Disabled  bool    `json:"disabled"`
	Workspace string  `json:"workspace_id"`
	CreatedAt *string `json:"created_at"`
	UpdatedAt *string `json:"updated_at"`
}

func shareKey(r *keys.Record) keyShared {
	return keyShared{
		Label: r.Label, Limit: r.Limit, LimitRemaining: r.Remaining, LimitReset: resetWord(r.Reset), IncludeBYOK: r.IncludeBYOK,
		Usage: r.Usage[router.Lifetime].Credit, UsageDaily: r.Usage[router.Daily].Credit,
		UsageWeekly: r.Usage[router.Weekly].Credit, UsageMonthly: r.Usage[router.Monthly].Credit,
		BYOK: r.Usage[router.Lifetime].BYOK(), BYOKDaily: r.Usage[router.Daily].BYOK(),
		BYOKWeekly: r.Usage[router.Weekly].BYOK(), BYOKMonthly: r.Usage[router.Monthly].BYOK(),
		Creator: orNull(r.Creator), ExternalUser: orNull(r.ExternalUser), ExpiresAt: stamp(r.ExpiresAt),
	}
}

func describeKey(r keys.Record) keyObject {
	return keyObject{
		Hash: r.Hash, Name: r.Name, keyShared: shareKey(&r), Disabled: r.Disabled, Workspace: r.Workspace,
		CreatedAt: stamp(r.CreatedAt), UpdatedAt: stamp(r.UpdatedAt),
	}
}

// orNull returns nil, which is null in JSON, for "".
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// listKeys serves GET /keys.
func (x *exchange) listKeys(ctx context.Context) error {
	query := x.parameters()
	q := keys.Query{
		Offset:          query.whole("offset", 0, 0, 1<<31-1),
		IncludeDisabled: query.word("include_disabled", "true", "false") == "true",
		Workspace:       query.workspace(),
	}
	if err := query.err(); err != nil {
		return err
	}
	found, err := x.s.ManagedKeys.List(ctx, x.actor(), q)
	if err != nil {
		return err
	}
	rows := make([]keyObject, len(found))
	for i, r := range found {
		rows[i] = describeKey(r)
	}
	x.reply(http.StatusOK, data{rows})
	return nil
}

// createKey serves POST /keys.
func (x *exchange) createKey(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	o.require("name")
	k := keys.Key{
		Name: o.text("name", 1, maxKeyName).To, Limit: o.amount("limit").To, Reset: o.reset("limit_reset").To,
		IncludeBYOK: o.boolean("include_byok_in_limit").To, ExpiresAt: o.instant("expires_at").To,
		Workspace: o.id("workspace_id").To,
	}
	if creator := o.nullText("creator_user_id", 1, maxUser).To; creator != nil {
		k.Creator = *creator
	}
	k.ExternalUser, k.ExternalHash = o.external()
	o.refuseUnsupported()
	if err := o.err(); err != nil {
		return o.with(x.s.ManagedKeys.Check(ctx, x.actor(), k))
	}
	r, secret, err := x.s.ManagedKeys.Create(ctx, x.actor(), k)
	if err != nil {
		return err
	}
	x.reply(http.StatusCreated, struct {
		Data keyObject `json:"data"`
		Key  string    `json:"key"`
	}{describeKey(r), string(secret)})
	return nil
}

// external reads the partner's user for whom a key is made. The partner's own key for
// that user is a credential too, so only its hash is kept.
func (o object) external() (user, hash string) {
	const name = "external"
	raw, ok := o.given(name)
	if !ok {
		return "", ""
	}
	inner, ok := o.inner(name, raw)
	if !ok {
		o.wrong(name, "must be an object")
		return "", ""
	}
	inner.require("user")
	user = inner.text("user", 1, maxUser).To
	if key := inner.text("api_key", 1, 0); key.Set {
		sum := sha256.Sum256([]byte(key.To))
		hash = hex.EncodeToString(sum[:])
	}
	return user, hash
}

// getKey serves GET /keys/{hash}.
func (x *exchange) getKey(ctx context.Context) error {
	r, err := x.s.ManagedKeys.Get(ctx, x.actor(), x.r.PathValue("hash"))
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describeKey(r)})
	return nil
}

// updateKey serves PATCH /keys/{hash}.
func (x *exchange) updateKey(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	o.refuseUnsupported()
	if err := o.err(); err == nil && !o.has("name", "disabled", "limit", "limit_reset", "include_byok_in_limit") {
		return errNoUpdate
	}
	p := keys.Patch{
		Name: o.text("name", 1, maxKeyName), Disabled: o.boolean("disabled"), Limit: o.amount("limit"), Reset: o.reset("limit_reset"),
		IncludeBYOK: o.boolean("include_byok_in_limit"),
	}
	if err := o.err(); err != nil {
		return err
	}
	r, err := x.s.ManagedKeys.Update(ctx, x.actor(), x.r.PathValue("hash"), p)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describeKey(r)})
	return nil
}

// deleteKey serves DELETE /keys/{hash}.
func (x *exchange) deleteKey(ctx context.Context) error {
	if err := x.s.ManagedKeys.Delete(ctx, x.actor(), x.r.PathValue("hash")); err != nil {
		return err
	}
	x.reply(http.StatusOK, deleted{true})
	return nil
}

// currentKeyObject describes the key of the request to its holder.
type currentKeyObject struct {
	keyShared
	Workspace      *string      `json:"workspace_id"`
	Organization   *string      `json:"organization_id"`
	Management     bool         `json:"is_management_key"`
	Provisioning   bool         `json:"is_provisioning_key"` // the older name of the same
	FreeTier       bool         `json:"is_free_tier"`
	Regions        []string     `json:"allowed_data_regions"`
	FreeModelDaily freeRequests `json:"free_model_daily_requests"`
	RateLimit      rateObject   `json:"rate_limit"`
}

// freeRequests says that free requests have no limit.
type freeRequests struct {
	Limit     int `json:"limit"`
	Remaining int `json:"remaining"`
	Used      int `json:"used"`
}

type rateObject struct {
	Requests int    `json:"requests"` // -1: no limit
	Interval string `json:"interval"`
	Note     string `json:"note"`
}

func describeRate(r keys.Rate) rateObject {
	if r.Requests == 0 {
		return rateObject{-1, time.Second.String(), "No rate limit applies to this key."}
	}
	return rateObject{r.Requests, r.Per.String(), "Requests that this key may make in each interval."}
}

// currentKey serves GET /key. A caller who has signed in without a key has none to show
// and is answered with 401.
func (x *exchange) currentKey(ctx context.Context) error {
	if x.principal.KeyHash == "" {
		return errNoCredential
	}
	r, organization, err := x.s.ManagedKeys.Current(ctx, x.principal)
	if err != nil {
		return err
	}
	o := currentKeyObject{
		keyShared: shareKey(&r), Workspace: orNull(r.Workspace), Management: r.Management, Provisioning: r.Management,
		Regions: []string{}, RateLimit: describeRate(x.s.ManagedKeys.KeyRate()),
	}
	if organization {
		o.Organization = orNull(r.Account)
	}
	x.reply(http.StatusOK, data{o})
	return nil
}
