package proofs

import (
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/store/lease"
)

// constructor is a New that takes a Config by value.
func constructor[C, T any](newT func(C) (T, error), wrong error) struct {
	config reflect.Type
	build  func(reflect.Value) error
	wrong  error
} {
	return struct {
		config reflect.Type
		build  func(reflect.Value) error
		wrong  error
	}{reflect.TypeFor[C](), func(v reflect.Value) error {
		_, err := newT(v.Interface().(C)) //nolint:forcetypeassert,errcheck // it is one of config
		return err
	}, wrong}
}

// nilOf returns a nil pointer of a type that implements I.
func nilOf[I any](typed I) (reflect.Type, reflect.Value) {
	return reflect.TypeFor[I](), reflect.ValueOf(typed)
}

// TestConfigurationsRefuseNilsInInterfaces sets every interface field of every
// Config, one at a time, to a nil pointer. A new field needs a line here.
func TestConfigurationsRefuseNilsInInterfaces(t *testing.T) {
	t.Parallel()
	nils := map[reflect.Type]reflect.Value{}
	add := func(i reflect.Type, v reflect.Value) { nils[i] = v }
	add(nilOf[activity.Store]((*struct{ activity.Store })(nil)))
	add(nilOf[activity.Directory]((*struct{ activity.Directory })(nil)))
	add(nilOf[guardrails.Store]((*struct{ guardrails.Store })(nil)))
	add(nilOf[content.EntityRecognizer]((*struct{ content.EntityRecognizer })(nil)))
	add(nilOf[httpapi.Authenticator]((*keys.Service)(nil)))
	add(nilOf[io.Reader]((*struct{ io.Reader })(nil)))
	add(nilOf[keys.Balancer]((*struct{ router.Ledger })(nil)))
	add(nilOf[keys.CredentialStore]((*struct{ keys.CredentialStore })(nil)))
	add(nilOf[keys.Directory]((*struct{ keys.Directory })(nil)))
	add(nilOf[keys.Store]((*struct{ keys.Store })(nil)))
	add(nilOf[organization.AuditStore]((*struct{ organization.AuditStore })(nil)))
	add(nilOf[organization.Balancer]((*struct{ router.Ledger })(nil)))
	add(nilOf[organization.Store]((*struct{ organization.Store })(nil)))
	add(nilOf[presets.Store]((*struct{ presets.Store })(nil)))
	add(nilOf[router.Ledger]((*struct{ lease.Base })(nil)))
	add(nilOf[router.Sessions]((*struct{ router.Sessions })(nil)))
	add(nilOf[similarity.Encoder]((*struct{ similarity.Encoder })(nil)))

	tried := 0
	for name, c := range map[string]struct {
		config reflect.Type
		build  func(reflect.Value) error
		wrong  error
	}{
		"activity":     constructor(activity.New, activity.ErrConfig),
		"credentials":  constructor(keys.NewCredentials, keys.ErrConfig),
		"guardrails":   constructor(guardrails.New, guardrails.ErrConfig),
		"content":      constructor(content.New, content.ErrConfig),
		"httpapi":      constructor(httpapi.New, httpapi.ErrConfig),
		"keys":         constructor(keys.New, keys.ErrConfig),
		"lease":        constructor(lease.New, lease.ErrBase),
		"organization": constructor(organization.New, organization.ErrConfig),
		"presets":      constructor(presets.New, presets.ErrConfig),
		"router":       constructor(router.New, router.ErrConfig),
		"similarity":   constructor(similarity.New, router.ErrConfig),
	} {
		var walk func(whole, part reflect.Value)
		walk = func(whole, part reflect.Value) {
			for i := range part.NumField() {
				field, v := part.Type().Field(i), part.Field(i)
				switch {
				case !field.IsExported():
				case v.Kind() == reflect.Struct:
					walk(whole, v)
				case v.Kind() == reflect.Interface:
					held, known := nils[v.Type()]
					require.True(t, known, "%s: %s needs a nil of %s", name, field.Name, v.Type())
					v.Set(held)
					err := c.build(whole)
					require.ErrorIs(t, err, c.wrong, "%s: %s", name, field.Name)
					if c.wrong != lease.ErrBase { //nolint:errorlint // which row it is
						require.ErrorContains(t, err, field.Name+" holds a nil", name)
					}
					v.SetZero()
					tried++
				}
			}
		}
		whole := reflect.New(c.config).Elem()
		walk(whole, whole)
	}
	assert.GreaterOrEqual(t, tried, len(nils))
}

// TestClientsRefuseNils covers nils below the fields of a Config.
func TestClientsRefuseNils(t *testing.T) {
	t.Parallel()
	_, err := router.NewCatalog(nil, []router.ProviderInfo{{Slug: "ant", Client: (*systemonehttp.Client)(nil)}}, nil)
	require.ErrorIs(t, err, router.ErrConfig)
	require.ErrorContains(t, err, "providers[0]: Client of ant holds a nil")
	client := &http.Client{Transport: (*http.Transport)(nil)}
	_, err = systemonehttp.New(systemonehttp.Config{BaseURL: "https://a.example", APIKey: "k", HTTP: client})
	require.ErrorIs(t, err, router.ErrConfig)
	_, err = openaidecisions.New(openaidecisions.Config{BaseURL: "https://a.example", APIKey: "k", HTTP: client})
	require.ErrorIs(t, err, router.ErrConfig)
}
