package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/router/webhook"
)

// webhookConfig is an address to which events are sent.
type webhookConfig struct {
	Name      string   `json:"name"`
	URL       string   `json:"url"`
	SecretEnv string   `json:"secret_env"`
	Events    []string `json:"events"`
	Private   bool     `json:"private"`
}

// receivers makes the receivers of the webhooks. It warns of each whose secret is not
// set.
func (b builder) receivers(c config) ([]hooks.Receiver, error) {
	var list []hooks.Receiver
	for i, w := range c.Webhooks {
		place := fmt.Sprintf("webhooks[%d]", i)
		if !environmentName(w.SecretEnv) { // the error does not quote it, because it may be the secret itself
			return nil, at(place+".secret_env", "must be the name of an environment variable")
		}
		r := hooks.Receiver{Name: cmp.Or(w.Name, place)}
		for _, event := range w.Events {
			if !slices.Contains(hooks.Types(), hooks.Type(event)) {
				return nil, at(place+".events", "%q must be one of %v", event, hooks.Types())
			}
			r.Types = append(r.Types, hooks.Type(event))
		}
		secrets := strings.Fields(b.getenv(w.SecretEnv))
		if len(secrets) == 0 {
			b.warn(fmt.Sprintf("%s is disabled: the environment variable %s is not set", place, w.SecretEnv))
			continue
		}
		settings := webhook.Config{URL: w.URL, Private: w.Private}
		for _, secret := range secrets {
			settings.Secrets = append(settings.Secrets, router.Secret(secret))
		}
		hook, err := webhook.New(settings)
		if err != nil {
			return nil, at(place, "%s", strings.TrimPrefix(err.Error(), webhook.ErrConfig.Error()+": "))
		}
		r.Handler = hook
		list = append(list, r)
	}
	return list, nil
}
