package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router/hooks"
)

// TestWebhooks: what is wrong with a webhook is reported with its place, and without the
// address or the secret.
func TestWebhooks(t *testing.T) {
	env := map[string]string{
		"SECRETS": "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8= whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
		"BAD":     "hunter2",
	}
	for _, c := range []struct {
		name, webhook, err, warning string
		want                        []hooks.Receiver
	}{
		{
			name:    "all members",
			webhook: `{"name":"ops","url":"http://127.0.0.1:9/in","secret_env":"SECRETS","events":["budget.reached"],"private":true}`,
			want:    []hooks.Receiver{{Name: "ops", Types: []hooks.Type{hooks.BudgetReached}}},
		},
		{name: "defaults", webhook: `{"url":"https://ops.example.com/hunter2","secret_env":"SECRETS"}`, want: []hooks.Receiver{{Name: "webhooks[0]"}}},
		{name: "no secret", webhook: `{"url":"https://ops.example.com","secret_env":"UNSET"}`, warning: "webhooks[0] is disabled: the environment variable UNSET is not set"},
		{name: "no variable", webhook: `{"url":"https://ops.example.com","secret_env":"whsec_hunter2="}`, err: "webhooks[0].secret_env: must be the name of an environment variable"},
		{name: "a bad secret", webhook: `{"url":"https://ops.example.com","secret_env":"BAD"}`, err: "webhooks[0]: secret 0 must begin with whsec_"},
		{name: "no address", webhook: `{"secret_env":"SECRETS"}`, err: "webhooks[0]: URL is required"},
		{name: "http", webhook: `{"url":"http://hunter2","secret_env":"SECRETS"}`, err: "webhooks[0]: URL must begin with https://, or with http:// where Private is set"},
		{name: "an unknown event", webhook: `{"url":"https://ops.example.com","secret_env":"SECRETS","events":["all"]}`, err: `webhooks[0].events: "all" must be one of [budget.reached`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := decodeConfig([]byte(`{"webhooks":[` + c.webhook + `]}`))
			require.NoError(t, err)
			var warning string
			got, err := builder{getenv: func(name string) string { return env[name] }, warn: func(line string) { warning = line }}.receivers(cfg)
			assert.Equal(t, c.warning, warning)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.NotContains(t, err.Error(), "hunter2")
				return
			}
			require.NoError(t, err)
			for i := range got {
				assert.NotNil(t, got[i].Handler)
				got[i].Handler = nil
			}
			assert.Equal(t, c.want, got)
		})
	}
}
