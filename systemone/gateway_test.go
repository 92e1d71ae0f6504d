package systemone_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

// gateway returns a body with options for a gateway, and with members added.
func gateway(options, members string) string {
	return about(`"providerOptions":{"typesafe":{"only":1},"gateway":` + options + `}` + members)
}

func TestDecodeGatewayModels(t *testing.T) {
	r := decode(t, gateway(`{"models":[
		{"model":"b","when":{"question":"desk","confidenceBelow":0.6}},
		"c",
		{"model":"d","when":{"confidenceBelow":0.6},"scope":"matched"}
	]}`, ""))
	assert.Equal(t, "m", r.Model)
	assert.Equal(t, []systemone.Entry{
		{Model: "b", When: &systemone.Condition{Question: "desk", ConfidenceBelow: new(0.6)}, Scope: systemone.ScopeAll},
		{Model: "c"},
		{Model: "d", When: &systemone.Condition{ConfidenceBelow: new(0.6)}, Scope: systemone.ScopeMatched},
	}, r.Models)
	assert.Nil(t, r.Provider, "models are no preference")
	assert.NotContains(t, string(r.AppendJSON(nil)), "providerOptions", "nothing remains of the options")

	r = decode(t, `{"state":"s","questions":{"q":{"type":"noul","instructions":"?"}},"models":[],"providerOptions":{"gateway":{"models":["a"]}}}`)
	assert.Equal(t, systemone.Texts("a"), r.Models, "an empty list names no models")
}

func TestDecodeGatewayPreferences(t *testing.T) {
	for _, c := range []struct {
		options string
		want    *systemone.Preferences
	}{
		{`{"only":["ant","bee"],"order":["bee"],"zeroDataRetention":true}`, &systemone.Preferences{Only: []string{"ant", "bee"}, Order: []string{"bee"}, ZDR: true}},
		{`{"sort":"cost"}`, &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}}},
		{`{"sort":"ttft"}`, &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortLatency}}},
		{`{"sort":"tps"}`, &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortThroughput}}},
		{`{"zeroDataRetention":false,"order":[],"only":null,"sort":null}`, nil},
		{`{"disallowPromptTraining":false,"hipaaCompliant":false,"inferenceRegion":null,"byok":null,"has":null,"quotaEntityId":null}`, nil},
		{`{"tags":["a"],"caching":"auto","serviceTier":"flex","providerTimeouts":{"byok":{"ant":1}},"idempotencyKey":"k","unheard":1}`, nil},
	} {
		assert.Equal(t, c.want, decode(t, gateway(c.options, "")).Provider, c.options)
	}
	r := decode(t, gateway(`{"only":["ant"],"zeroDataRetention":true}`, `,"provider":{"order":["bee"],"zdr":false}`))
	assert.Equal(t, &systemone.Preferences{Only: []string{"ant"}, Order: []string{"bee"}, ZDR: true}, r.Provider)
	for _, options := range []string{`null`, `{}`, `{"gateway":null}`, `{"openai":1}`} {
		r := decode(t, about(`"providerOptions":`+options))
		assert.True(t, r.Models == nil && r.Provider == nil, options)
	}
}

func TestDecodeGatewayUser(t *testing.T) {
	assert.Equal(t, "u", decode(t, gateway(`{"user":"u"}`, "")).User)
	assert.Equal(t, "own", decode(t, gateway(`{"user":"u"}`, `,"user":"own"`)).User)
}

func TestDecodeRefusesGatewayOptions(t *testing.T) {
	const at = "providerOptions.gateway."
	for _, c := range []struct {
		options, members, want string
	}{
		{`{"models":["b"]}`, `,"models":["a"]`, at + "models: must not be given together with models"},
		{`{"only":["a"]}`, `,"provider":{"only":["a"]}`, at + "only: must not be given together with provider.only"},
		{`{"order":["a"]}`, `,"provider":{"order":["b"]}`, at + "order: must not be given together with provider.order"},
		{`{"sort":"cost"}`, `,"provider":{"sort":"price"}`, at + "sort: must not be given together with provider.sort"},
		{`{"zeroDataRetention":true}`, `,"provider":{"zdr":true}`, at + "zeroDataRetention: must not be given together with provider.zdr"},
		{`{"disallowPromptTraining":true}`, "", at + "disallowPromptTraining: is not supported"},
		{`{"hipaaCompliant":true}`, "", at + "hipaaCompliant: is not supported"},
		{`{"inferenceRegion":"eu"}`, "", at + "inferenceRegion: is not supported"},
		{`{"byok":{"ant":[{"apiKey":"canary-key"}]}}`, "", at + "byok: is not supported"},
		{`{"has":["vision"]}`, "", at + "has: is not supported"},
		{`{"quotaEntityId":"team"}`, "", at + "quotaEntityId: is not supported"},
		{`[]`, "", "providerOptions.gateway: must be an object"},
		{`{"models":"b"}`, "", at + "models: must be an array of models"},
		{`{"models":[""]}`, "", at + "models.0: must not be empty"},
		{`{"models":["b",{"model":"` + strings.Repeat("c", 257) + `","when":{"confidenceBelow":1}}]}`, "", at + "models.1.model: must not be longer than 256 characters"},
		{`{"models":["b",{"model":"c","when":{"question":"gone","confidenceBelow":1}}]}`, "", at + "models.1.when.question: is not a question of the request"},
		{`{"only":[]}`, "", at + "only: must not be empty"},
		{`{"only":["a",""]}`, "", at + "only.1: must not be empty"},
		{`{"order":"a"}`, "", at + "order: must be an array of strings"},
		{`{"sort":"price"}`, "", at + "sort: must be one of cost, ttft, tps"},
		{`{"zeroDataRetention":1}`, "", at + "zeroDataRetention: must be true or false"},
		{`{"user":1}`, "", at + "user: must be a string"},
		{`{"user":"` + strings.Repeat("u", 257) + `"}`, "", at + "user: must not be longer than 256 characters"},
	} {
		_, err := systemone.Decoder{}.Decode([]byte(gateway(c.options, c.members)))
		require.Error(t, err, c.options)
		assert.Equal(t, []string{c.want}, issues(t, err), c.options)
	}
	_, err := systemone.Decoder{}.Decode([]byte(about(`"providerOptions":[]`)))
	assert.Equal(t, []string{"providerOptions: must be an object"}, issues(t, err))
}
