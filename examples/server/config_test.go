package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// plainConfig is valid; tests replace a part of it by a mistake.
const plainConfig = `{
	"providers": [{"slug": "up", "name": "Up", "kind": "systemone", "base_url": "http://127.0.0.1:1/v1"}],
	"models": [{"id": "acme/judge", "permaslug": "acme/judge-20260901", "aliases": ["judge-latest"]}],
	"endpoints": [{"provider": "up", "model": "acme/judge", "upstream_model": "j", "pricing": {"prompt": "0.042"}}]}`

// ended returns a context that has ended, so that a server which starts stops at once.
func ended(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestMistakesAreOneLineThatNamesThePlace(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"not JSON":            {`"models"`, `models`, "invalid JSON at byte"},
		"line of a mistake":   {`"models"`, `models`, "line 3, column 2: invalid JSON at byte"},
		"first line":          {plainConfig, `}`, ": line 1, column 1: invalid JSON"},
		"end of the file":     {`"0.042"}}]}`, `"0.042"}}]`, "line 4, column 113: invalid JSON"},
		"empty price":         {`"0.042"`, `""`, "endpoints[0].pricing.prompt: is empty"},
		"null price":          {`"0.042"`, `null`, "endpoints[0].pricing.prompt: must be a text"},
		"trailing data":       {`"0.042"}}]}`, `"0.042"}}]} x`, "unexpected data after the value"},
		"twice":               {`"slug": "up"`, `"slug": "up", "slug": "up"`, "providers.0.slug"},
		"a list":              {plainConfig, `[]`, "must be an object"},
		"unknown list":        {`"models"`, `"model"`, "model: unknown member"},
		"unknown member":      {`"upstream_model"`, `"upstream"`, "endpoints[0].upstream: unknown member"},
		"case of a member":    {`"slug"`, `"Slug"`, "providers[0].Slug: unknown member"},
		"unknown price":       {`"prompt"`, `"input"`, "endpoints[0].pricing.input: unknown member"},
		"number for text":     {`"0.042"`, `0.042`, "endpoints[0].pricing.prompt: must be a text"},
		"null":                {`"up", "name"`, `null, "name"`, "providers[0].slug: must be a text"},
		"text for list":       {`["judge-latest"]`, `"judge-latest"`, "models[0].aliases: must be a list"},
		"price":               {`"0.042"`, `"cheap"`, "endpoints[0].pricing.prompt"},
		"price too fine":      {`"0.042"`, `"0.0000000001"`, "endpoints[0].pricing.prompt"},
		"negative price":      {`"0.042"`, `"-1"`, "endpoints[0].pricing.prompt: must not be negative"},
		"kind":                {`"systemone"`, `"grpc"`, `providers[0].kind: must be "systemone", "openai", "gemini" or "similarity"`},
		"profile":             {`"kind": "systemone"`, `"kind": "systemone", "profile": "x"`, "providers[0].profile: must be one of"},
		"profile of openai":   {`"kind": "systemone"`, `"kind": "openai", "profile": "ollama"`, `providers[0].profile: belongs to kind "systemone"`},
		"profile of gemini":   {`"kind": "systemone"`, `"kind": "gemini", "profile": "ollama"`, `providers[0].profile: belongs to kind "systemone"`},
		"address missing":     {`"http://127.0.0.1:1/v1"`, `""`, "providers[0].base_url: is required"},
		"address scheme":      {`"http://127.0.0.1:1/v1"`, `"ftp://x"`, "providers[0].base_url: must begin with"},
		"address credentials": {`"http://127.0.0.1:1/v1"`, `"http://u:hunter2@x/v1"`, "providers[0].base_url: must not hold credentials"},
		"address query":       {`"http://127.0.0.1:1/v1"`, `"http://x/v1?key=hunter2"`, "providers[0].base_url: must not have a query"},
		"address broken":      {`"http://127.0.0.1:1/v1"`, `"http://[hunter2"`, "providers[0].base_url: is not an address"},
		"pasted credential":   {`"kind": "systemone"`, `"kind": "systemone", "api_key_env": "sk-1 hunter2"`, "providers[0].api_key_env: must be the name of an environment variable"},
		"embedded address":    {`"systemone"`, `"similarity"`, "providers[0]: a"},
		"variant":             {`"upstream_model": "j"`, `"variant": "E U"`, "E U"},
		"no slug":             {`"slug": "up"`, `"slug": ""`, "providers[0].slug: is required"},
		"no id":               {`"id": "acme/judge"`, `"id": ""`, "models[0].id: is required"},
		"no permaslug":        {`"permaslug": "acme/judge-20260901", `, ``, "models[0].permaslug: is required"},
		"provider":            {`"provider": "up"`, `"provider": "down"`, `endpoints[0].provider: no provider has the slug "down"`},
		"model":               {`"model": "acme/judge"`, `"model": "acme/jury"`, `endpoints[0].model: no model has the id "acme/jury"`},
		"zdr and collecting":  {`"upstream_model": "j"`, `"zdr": true, "data_collection": true`, "endpoints[0].zdr"},
		"quantization":        {`"upstream_model": "j"`, `"quantization": "fp7"`, "fp7"},
		"negative limit":      {`"upstream_model": "j"`, `"limits": {"options": -1}`, "endpoints[0].limits.options: must be a whole number"},
		"fractional limit":    {`"upstream_model": "j"`, `"limits": {"options": 1.5}`, "endpoints[0].limits.options: must be a whole number"},
		"huge limit":          {`"upstream_model": "j"`, `"context_length": 1e30`, "endpoints[0].context_length: must be a whole number"},
		"port of the address": {`"http://127.0.0.1:1/v1"`, `"http://127.0.0.1:0/v1"`, "providers[0].base_url: base URL has no valid port\n"},
		"path of the address": {`"systemone", "base_url": "http://127.0.0.1:1/v1"`, `"openai", "base_url": "http://127.0.0.1:1/../v1"`, "providers[0].base_url: base URL has an unusual path\n"},
		"credential":          {`"kind"`, `"api_key_env": "SPACED", "kind"`, "providers[0].api_key_env: API key has a space"},
		"credential, gemini":  {`"kind": "systemone"`, `"api_key_env": "SPACED", "kind": "gemini"`, "providers[0].api_key_env: API key has a space"},
		"credential, openai":  {`"kind": "systemone"`, `"api_key_env": "SPACED", "kind": "openai"`, "providers[0].api_key_env: API key has a space"},
		"empty":               {plainConfig, `{}`, "providers: must have at least one entry"},
		"no providers":        {`[{"slug": "up", "name": "Up", "kind": "systemone", "base_url": "http://127.0.0.1:1/v1"}]`, `[]`, "providers: must have at least one entry"},
		"no models":           {`[{"id": "acme/judge", "permaslug": "acme/judge-20260901", "aliases": ["judge-latest"]}]`, `[]`, "models: must have at least one entry"},
		"no endpoints":        {plainConfig, plainConfig[:strings.Index(plainConfig, `"endpoints"`)] + `"endpoints": []}`, "endpoints: must have at least one entry"},
		"too many tokens":     {`"upstream_model": "j"`, `"tokens_per_byte": 1001`, "tokens per byte outside 0 to 1000"},
		"negative tokens":     {`"upstream_model": "j"`, `"tokens_per_byte": -0.5`, "endpoints[0].tokens_per_byte: must be a number, 0 or more"},
		"text for a number":   {`"upstream_model": "j"`, `"tokens_per_byte": "0.5"`, "endpoints[0].tokens_per_byte: must be a number, 0 or more"},
		"no stages":           {`"aliases"`, `"stages": [], "aliases"`, "models[0].stages: must have at least one entry"},
		"stages no list":      {`"aliases"`, `"stages": "a", "aliases"`, "models[0].stages: must be a list"},
		"stage a number":      {`"aliases"`, `"stages": [1], "aliases"`, "models[0].stages[0]: must be a string or an object"},
		"stage's member":      {`"aliases"`, `"stages": ["a", {"model": "b", "if": {}}], "aliases"`, "models[0].stages[1].if: "},
		"stage's condition":   {`"aliases"`, `"stages": ["a", {"model": "b", "when": {"any": [{"confidenceBelow": 2}]}}], "aliases"`, "models[0].stages[1].when.any.0.confidenceBelow: must be a number from 0 to 1"},
		"first stage's":       {`["judge-latest"]}],`, `["judge-latest"]}, {"id": "acme/triage", "permaslug": "acme/triage-1", "stages": [{"model": "acme/judge", "when": {"confidenceBelow": 0.5}}]}],`, "models[1]: acme/triage: stages.0.when: must not be given"},
		"unknown stage":       {`["judge-latest"]}],`, `["judge-latest"]}, {"id": "acme/triage", "permaslug": "acme/triage-1", "stages": ["acme/jury"]}],`, `models[1]: acme/triage: stages.0: unknown model "acme/jury"`},
		"stages in stages":    {`["judge-latest"]}],`, `["judge-latest"]}, {"id": "acme/triage", "permaslug": "acme/triage-1", "stages": ["acme/triage"]}],`, "models[1]: acme/triage: stages.0: acme/triage is made of stages itself"},
		"stages, endpoint":    {`"aliases"`, `"stages": ["acme/judge"], "aliases"`, `endpoints[0].model: "acme/judge" is made of stages, so it has no endpoints`},
		"ceiling alone":       {`"aliases"`, `"max_escalated": 0.5, "aliases"`, "models[0].max_escalated: belongs to a model with stages"},
		"ceiling of nothing":  {`"aliases"`, `"stages": ["a"], "max_escalated": 0, "aliases"`, "models[0].max_escalated: must be more than 0 and at most 1"},
		"ceiling above 1":     {`"aliases"`, `"stages": ["a"], "max_escalated": 1.5, "aliases"`, "models[0].max_escalated: must be more than 0 and at most 1"},
		"cascade of another":  {`"kind": "systemone"`, `"kind": "systemone", "cascade": "acme/judge"`, `providers[0].cascade: belongs to kind "similarity"`},
		"silence of openai":   {`"kind": "systemone"`, `"kind": "openai", "silence_refuses": false`, `providers[0].silence_refuses: belongs to kind "systemone"`},
		"silence of embedded": {`"kind": "systemone", "base_url": "http://127.0.0.1:1/v1"`, `"kind": "similarity", "silence_refuses": true`, `providers[0]: a "similarity" provider takes no further member but cascade`},
		"rounding too coarse": {`"upstream_model": "j"`, `"rounding": 1`, "a rounding outside 0 to 1"},
		"negative rounding":   {`"upstream_model": "j"`, `"rounding": -0.01`, "endpoints[0].rounding: must be a number, 0 or more"},
		"remembered for ever": {`"providers":`, `"routing": {"remember": {"ttl_s": 0}}, "providers":`, "routing.remember.ttl_s: must be 1 to 86400"},
		"remembered in none":  {`"providers":`, `"routing": {"remember": {"bytes": -1}}, "providers":`, "routing.remember.bytes: must be"},
		"unknown routing":     {`"providers":`, `"routing": {"shared": true}, "providers":`, "routing.shared"},
		"text for bool":       {`"upstream_model": "j"`, `"zdr": "yes"`, "endpoints[0].zdr: must be true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, plainConfig, c.old)
			path := write(t, strings.Replace(plainConfig, c.old, c.new, 1))
			var stdout, stderr strings.Builder
			code := run(ended(t), []string{"-addr", "127.0.0.1:0", "-config", path}, func(string) string { return "hunter2 hunter2" }, &stdout, &stderr)
			assert.Equal(t, exitUsage, code)
			assert.Contains(t, stderr.String(), c.want)
			assert.NotContains(t, stderr.String(), "invalid configuration")
			assert.Contains(t, stderr.String(), path)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			assert.NotContains(t, stderr.String(), "hunter2")
			assert.Empty(t, stdout.String())
		})
	}
}

func TestFlagMistakesAreOneLine(t *testing.T) {
	for name, args := range map[string][]string{
		"unknown flag":  {"-port", "1"},
		"argument":      {"serve"},
		"address":       {"-addr", "8080"},
		"port":          {"-addr", "127.0.0.1:99999"},
		"negative port": {"-addr", "127.0.0.1:-1"},
		"keys folder":   {"-keys-file", "no/such/folder/keys.json"},
		"keys in file":  {"-keys-file", "main.go/keys.json"},
		"keys a folder": {"-keys-file", "../server"},
		"missing file":  {"-config", "no-such-file.json"},
		"missing value": {"-config"},
		"empty config":  {"-config", ""},
		"empty file":    {"-keys-file", ""},
		"empty address": {"-addr", ""},
		"no origin":     {"-origins", "app.example"},
		"any origin":    {"-origins", "*"},
		"empty origins": {"-origins", ""},
		"no address":    {"-credits-url", "credits"},
		"a script":      {"-credits-url", "javascript:alert(1)"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			code := run(ended(t), args, func(string) string { return "" }, &stdout, &stderr)
			assert.Equal(t, exitUsage, code)
			assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
			assert.NotContains(t, stderr.String(), ".keys-", "no temporary file")
			assert.Empty(t, stdout.String(), "no keys are shown by a server that does not serve")
		})
	}
}

// Editors on Windows begin a file with a byte order mark.
func TestAByteOrderMarkIsNoMistake(t *testing.T) {
	marked, err := decodeConfig([]byte("\xef\xbb\xbf" + plainConfig))
	require.NoError(t, err)
	plain, err := decodeConfig([]byte(plainConfig))
	require.NoError(t, err)
	assert.Equal(t, plain, marked)
}

func TestHelpIsNoMistake(t *testing.T) {
	var stdout, stderr strings.Builder
	assert.Equal(t, exitOK, run(t.Context(), []string{"-h"}, func(string) string { return "" }, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "-keys-file")
}

func TestAProviderWithoutItsCredentialIsSwitchedOff(t *testing.T) {
	text := strings.Replace(plainConfig, `"kind"`, `"api_key_env": "UP_KEY", "kind"`, 1)
	c, err := decodeConfig([]byte(text))
	require.NoError(t, err)
	var warnings []string
	build := func(key string) *router.Catalog {
		b := builder{
			getenv: func(name string) string { return map[string]string{"UP_KEY": key}[name] },
			warn:   func(line string) { warnings = append(warnings, line) },
		}
		catalog, err := b.catalog(c)
		require.NoError(t, err)
		return catalog
	}
	assert.True(t, build("").Endpoints()[0].Off)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "UP_KEY")
	assert.False(t, build("secret").Endpoints()[0].Off)
	assert.Len(t, warnings, 1)
}

func TestDefaultsAreTheSafeOnes(t *testing.T) {
	c, err := decodeConfig([]byte(plainConfig))
	require.NoError(t, err)
	b := builder{getenv: func(string) string { return "" }, warn: func(string) {}}
	catalog, err := b.catalog(c)
	require.NoError(t, err)
	e := catalog.Endpoints()[0]
	assert.True(t, e.CollectsData, "not known to be safe")
	assert.False(t, e.ZDR)
	assert.False(t, catalog.Models()[0].Distillable)
	assert.Equal(t, router.Pricing{Prompt: router.Dollars("0.042")}, e.Pricing)

	zdr, err := decodeConfig([]byte(strings.Replace(plainConfig, `"upstream_model"`, `"zdr": true, "distillable": true, "upstream_model"`, 1)))
	require.NoError(t, err)
	catalog, err = b.catalog(zdr)
	require.NoError(t, err)
	assert.False(t, catalog.Endpoints()[0].CollectsData)
	assert.True(t, catalog.Models()[0].Distillable)
}

func TestAProviderMayNeedNoCredential(t *testing.T) {
	for _, kind := range []string{kindSystemOne, kindOpenAI, kindGemini} {
		c, err := decodeConfig([]byte(strings.Replace(plainConfig, kindSystemOne, kind, 1)))
		require.NoError(t, err)
		catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
		require.NoError(t, err, kind)
		assert.False(t, catalog.Endpoints()[0].Off, kind)
	}
}

func TestQuantizationIsOverwrittenOnlyWhenGiven(t *testing.T) {
	build := func(c config) string {
		catalog, err := builder{getenv: os.Getenv, warn: func(string) {}}.catalog(c)
		require.NoError(t, err)
		return catalog.Endpoints()[0].Quantization
	}
	c := builtin()
	assert.Equal(t, "int8", build(c), "the embedded model's own")
	c.Endpoints[0].Quantization = "fp16"
	assert.Equal(t, "fp16", build(c))
}

// A missing answer is a refusal where the profile or the operator says so.
func TestSilenceRefusesWhereItIsSaid(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"answers":{}}`))
	}))
	defer up.Close()
	for _, c := range []struct {
		profile string
		said    *bool
		want    []router.Refusal
	}{
		{"typesafe", nil, nil},
		{"typesafe", new(true), []router.Refusal{{Question: "q"}}},
		{"openrouter", nil, []router.Refusal{{Question: "q"}}},
		{"openrouter", new(false), nil},
	} {
		b := builder{getenv: func(string) string { return "" }, warn: func(string) {}}
		u, err := b.upstream("providers[0]", providerConfig{Slug: "up", Kind: kindSystemOne, Profile: c.profile, BaseURL: up.URL, SilenceRefuses: c.said})
		require.NoError(t, err)
		got, err := u.info.Client.Decide(t.Context(), router.Attempt{Model: "m", Request: &systemone.Request{
			State: systemone.Text("s"), Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: systemone.Text("i")}},
		}})
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Refused, c)
	}
}

// The operator may state how coarse the probabilities of an endpoint are.
func TestRoundingIsThatOfTheProfileUnlessGiven(t *testing.T) {
	for member, want := range map[string]float64{"": 0.01, `"rounding": 0.0001, `: 0.0001, `"rounding": 0, `: 0} {
		c, err := decodeConfig([]byte(strings.Replace(plainConfig, `"upstream_model"`, member+`"upstream_model"`, 1)))
		require.NoError(t, err)
		catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
		require.NoError(t, err)
		assert.InDelta(t, want, catalog.Endpoints()[0].Tolerance.Rounding, 0, member)
	}
}

func TestEndpointsOfAModelAgreeOnDistillation(t *testing.T) {
	two := `"pricing": {"prompt": "0.042"}}, {"provider": "up", "variant": "eu", "model": "acme/judge", "distillable": true}`
	c, err := decodeConfig([]byte(strings.Replace(plainConfig, `"pricing": {"prompt": "0.042"}}`, two, 1)))
	require.NoError(t, err)
	_, err = builder{getenv: os.Getenv, warn: func(string) {}}.catalog(c)
	require.ErrorContains(t, err, "endpoints[1].distillable")
}

func TestTheExampleCoversEveryProfile(t *testing.T) {
	c, err := readConfig("config.example.json")
	require.NoError(t, err)
	var warnings []string
	catalog, err := builder{getenv: func(string) string { return "" }, warn: func(w string) { warnings = append(warnings, w) }}.catalog(c)
	require.NoError(t, err)
	assert.Len(t, warnings, 9)
	on := map[string]bool{}
	for _, e := range catalog.Endpoints() {
		if !e.Off {
			on[e.Provider] = true
		}
	}
	assert.Equal(t, []string{"embedded", "ollama"}, slices.Sorted(maps.Keys(on)), "what needs no credential")

	catalog, err = builder{getenv: func(string) string { return "key" }, warn: func(string) {}}.catalog(c)
	require.NoError(t, err)
	for _, e := range catalog.Endpoints() {
		assert.False(t, e.Off, e.Tag())
	}
	used := map[string]bool{"systemone": true} // the plain dialect needs no example
	for _, p := range c.Providers {
		used[p.Profile] = true
	}
	for _, name := range profileNames() {
		assert.True(t, used[name], "profile %s", name)
	}
}

func TestTheDocumentationListsEveryMemberAndProfile(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, of := range []reflect.Type{
		reflect.TypeFor[providerConfig](), reflect.TypeFor[modelConfig](), reflect.TypeFor[endpointConfig](),
	} {
		for f := range of.Fields() {
			assert.Regexp(t, `(?m)^//\t`+f.Tag.Get("json")+`\s`, string(doc))
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[pricingConfig](), reflect.TypeFor[limitsConfig]()} {
		for f := range of.Fields() {
			assert.Contains(t, string(doc), `"`+f.Tag.Get("json")+`"`)
		}
	}
	oneLine := strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "//", "")), " ")
	assert.Contains(t, oneLine, "Profiles: "+strings.Join(profileNames(), ", ")+".")
}

func TestTheDocumentationListsEveryFlag(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, flags, _ := strings.Cut(string(doc), "\n// # Flags\n")
	flags, _, _ = strings.Cut(flags, "\n// SIGINT")
	documented := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^//\t-.*`).FindAllString(flags, -1) {
		for _, name := range regexp.MustCompile(`(?:\t|, )-([a-z-]+)`).FindAllStringSubmatch(line, -1) {
			documented[name[1]] = true
		}
	}
	var usage bytes.Buffer
	_, err = parse([]string{"-h"}, &usage)
	require.ErrorIs(t, err, flag.ErrHelp)
	defined := map[string]bool{}
	for _, name := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(usage.String(), -1) {
		defined[name[1]] = true
	}
	assert.Equal(t, defined, documented)
}

func FuzzDecodeConfig(f *testing.F) {
	f.Add([]byte(plainConfig))
	f.Add([]byte(`{"providers":[{"slug":"s","kind":"similarity"}],"endpoints":[{"limits":{"nulls":null}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeConfig(data)
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		for i := range c.Providers { // loading the embedded model each time would be slow
			if c.Providers[i].Kind == kindSimilarity {
				return
			}
		}
		_, err = builder{getenv: func(string) string { return "k" }, warn: func(string) {}}.catalog(c)
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
		}
	})
}

func TestAModelThatCannotStandInAPathIsAMistake(t *testing.T) {
	text := strings.Replace(plainConfig, `"kind": "systemone"`, `"kind": "systemone", "profile": "cloudflare-clef"`, 1)
	text = strings.Replace(text, `"upstream_model": "j"`, `"upstream_model": "../../x?y"`, 1)
	c, err := decodeConfig([]byte(text))
	require.NoError(t, err)
	_, err = builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
	require.EqualError(t, err, "endpoints[0].upstream_model: name of the model cannot stand in a path")
}

func TestOwnCredentialsAreForUpstreamsThatTakeThem(t *testing.T) {
	for provider, takes := range map[string]bool{
		`"kind": "systemone", "base_url": "http://x/v1"`:                               true,
		`"kind": "openai", "base_url": "http://x/v1"`:                                  true,
		`"kind": "gemini", "base_url": "http://x/v1beta"`:                              true,
		`"kind": "systemone", "profile": "typesafe", "base_url": "http://x/v1"`:        true,
		`"kind": "systemone", "profile": "cloudflare-clef", "base_url": "http://x/v1"`: false,
		`"kind": "systemone", "profile": "ollama", "base_url": "http://x/v1"`:          false,
		`"kind": "similarity"`: false,
	} {
		text := strings.Replace(plainConfig, `"kind": "systemone", "base_url": "http://127.0.0.1:1/v1"`, provider, 1)
		c, err := decodeConfig([]byte(strings.Replace(text, `"upstream_model": "j", `, "", 1)))
		require.NoError(t, err)
		catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
		require.NoError(t, err, provider)
		assert.Equal(t, takes, !catalog.Provider("up").NoOwnCredentials, provider)
	}
}

func TestWhatAnEndpointCounts(t *testing.T) {
	counting := func(members string) router.Counting {
		c, err := decodeConfig([]byte(strings.NewReplacer(
			`"upstream_model": "j"`, members, `"kind": "systemone"`, `"kind": "systemone", "profile": "typesafe"`,
		).Replace(plainConfig)))
		require.NoError(t, err)
		catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(c)
		require.NoError(t, err)
		return catalog.Endpoints()[0].Counting
	}
	assert.Equal(t, router.Counting{InputTokens: 70_000, Verbatim: true}, counting(`"upstream_model": "j"`), "what the profile states")
	assert.Equal(t, router.Counting{Verbatim: true}, counting(`"context_length": 1000`), "the operator's context is the largest count")
	assert.Equal(t, router.Counting{UsageRequired: true, InputTokens: 3000, TokensPerByte: 0.4, CompletionTokens: 20, Verbatim: true}, counting(
		`"context_length": 1000, "max_prompt_tokens": 3000, "max_completion_tokens": 20, "tokens_per_byte": 0.4, "usage_required": true`,
	))
}

func TestLastResortsAndTheirTime(t *testing.T) {
	build := func(c config) *router.Endpoint {
		catalog, err := builder{getenv: os.Getenv, warn: func(string) {}}.catalog(c)
		require.NoError(t, err)
		return catalog.Endpoints()[0]
	}
	c := builtin()
	assert.True(t, build(c).LastResort, "the embedded model is one by default")
	no := false
	c.Endpoints[0].LastResort = &no
	assert.False(t, build(c).LastResort)

	plain, err := decodeConfig([]byte(plainConfig))
	require.NoError(t, err)
	assert.False(t, build(plain).LastResort, "others are none")
	assert.Zero(t, build(plain).AttemptTimeout)
	said, err := decodeConfig([]byte(strings.Replace(plainConfig, `"pricing":`, `"last_resort": true, "attempt_timeout_ms": 2500, "pricing":`, 1)))
	require.NoError(t, err)
	assert.True(t, build(said).LastResort)
	assert.Equal(t, 2500*time.Millisecond, build(said).AttemptTimeout)
}

func TestAbandonedFlag(t *testing.T) {
	for word, want := range map[string]router.Abandon{
		"estimate": router.AbandonEstimate, "void": router.AbandonVoid, "finish": router.AbandonFinish,
	} {
		o, err := parse([]string{"-abandoned", word}, io.Discard)
		require.NoError(t, err)
		assert.Equal(t, want, o.abandoned)
	}
	o, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, router.AbandonEstimate, o.abandoned)
	_, err = parse([]string{"-abandoned", "free"}, io.Discard)
	require.ErrorContains(t, err, "none of estimate, void and finish")
}

func TestRoutingSwitchesOn(t *testing.T) {
	for text, want := range map[string]router.Config{
		``: {}, `"routing": {}, `: {}, `"routing": {"share": true}, `: {Share: true},
		`"routing": {"remember": {}}, `:                                           {Remember: &router.Remembering{}},
		`"routing": {"share": false, "remember": {"ttl_s": 60, "bytes": 1000}}, `: {Remember: &router.Remembering{TTL: time.Minute, Bytes: 1000}},
	} {
		c, err := decodeConfig([]byte(strings.Replace(plainConfig, "{", "{"+text, 1)))
		require.NoError(t, err)
		var got router.Config
		c.Routing.apply(&got)
		assert.Equal(t, want, got, text)
	}
}
